/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Number of samples that a recording lacks. One loss may be reported three times: by LOST records
 * (for all kinds of records, when the ring buffer has room again), by READ records, and by the
 * event's count of lost samples, which recorders write at the end.
 */
#ifndef SPROF_PRIVATE_LOSSES_H
#define SPROF_PRIVATE_LOSSES_H

#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_losses;

/* Makes a count without losses. The reader must outlive it. */
SP_API struct sp_error *sp_losses_new(const struct sp_reader *reader,
				      struct sp_losses **ret) SP_MUST_CHECK;
SP_API void sp_losses_free(struct sp_losses *losses);

/* Adds a record of the reader, of any type. Fails only when out of memory. */
SP_API struct sp_error *sp_losses_add(struct sp_losses *losses,
				      const struct sp_record *record) SP_MUST_CHECK;

/*
 * Returns the lost samples of the event with that index, from the records added up to now. Losses
 * of unknown events count for the first.
 */
SP_API uint64_t sp_losses_count(const struct sp_losses *losses, size_t event);

/*
 * Returns how many of these belong to the target: all, unless the recorder has noted that events on
 * whole CPUs lost samples of other processes, too. It states one ratio for all events. 0 if an
 * interrupted recording lacks the ratio; sp_losses_unknown() then returns all of them, else 0.
 */
SP_API uint64_t sp_losses_own(const struct sp_losses *losses, size_t event);
SP_API uint64_t sp_losses_unknown(const struct sp_losses *losses, size_t event);

/* Loss at one time, reported by a record of that time. */
struct sp_loss {
	uint64_t time_ns; /* end of the loss: the ring had room again; 0: unknown */
	uint64_t lost;
	uint32_t cpu;     /* UINT32_MAX: not known */
	uint16_t event;
};

/* Time in which the kernel took no samples, because sampling took too long. */
struct sp_throttling {
	uint64_t begin_ns, end_ns; /* end_ns 0: unknown */
	uint32_t cpu;     /* UINT32_MAX: not known */
	uint16_t event;
};

/* Loss of a thread that ended, computed from its counters. */
struct sp_thread_loss {
	uint32_t pid, tid;
	uint64_t lost;
};

/* Losses, throttlings and threads, in the order of their records. */
SP_API size_t sp_losses_moment_count(const struct sp_losses *losses);
SP_API const struct sp_loss *sp_losses_moment(const struct sp_losses *losses, size_t index);
SP_API size_t sp_losses_throttling_count(const struct sp_losses *losses);
SP_API const struct sp_throttling *sp_losses_throttling(const struct sp_losses *losses, size_t index);
SP_API size_t sp_losses_thread_count(const struct sp_losses *losses);
SP_API const struct sp_thread_loss *sp_losses_thread(const struct sp_losses *losses, size_t index);

/*
 * Writes record's option for ring buffers that lose less than those of `ring_bytes` (0: unknown):
 * "-m 32M". `copies`: samples have copies of stacks. False: they are large, and larger ones may not
 * be permitted.
 */
SP_API bool sp_larger_rings_option(uint64_t ring_bytes, bool copies, char *text, size_t size);

/* Highest rate of advice: it slows programs little, and a task of 1 ms has 5 samples. */
#define SP_FAST_HZ 4999

/*
 * Return the rate to advise after a recording at `hz`. A lower one is for a recorder that could not
 * keep up. A higher one is for tasks that are shorter than a period, which 0 says it cannot help.
 * Advice has no circle: no recording at an advised lower rate is advised a higher one.
 * `python`: the recorder reads Python's stacks, which run on before it at higher rates.
 */
SP_API uint64_t sp_lower_rate_hz(uint64_t hz);
SP_API uint64_t sp_higher_rate_hz(uint64_t hz, bool python);

#ifdef __cplusplus
}
#endif
#endif
