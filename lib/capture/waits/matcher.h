/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waits of threads: the time from a switch off the CPU to the switch back. The stack of a wait is
 * the thread's last sample before it went off. It is held until the end of the wait is known, and
 * then it becomes a sample of the event offcpu-time, with the wait's duration as its period.
 *
 * Short waits are thinned: of duration d below the threshold T, a share of d/T is written, with a
 * period of T. So periods sum to the blocked time without bias. A hash of thread and time selects
 * them.
 *
 * Preempted threads do not wait: their samples are those of another event. They are thinned with a
 * threshold of their own.
 *
 * A snapshot's sample has the time when its copy ended, and the time that copying took as its
 * period. It is written with the time and the CPU of the switch. It is the stack of a wait only if
 * the thread was off the CPU all that time. A wait that
 * is found by a snapshot is already thinned: its period is at least the snapshots' interval. Waits
 * that are not over are all found at the end: they have their duration.
 *
 * If only one of N switches is sampled, the others' waits are found by snapshots when they are old
 * enough. The period is the duration divided by the probability that such a wait is found.
 *
 * SWITCH records and samples may come in any order, from several ring buffers and from threads that
 * unwind. They are matched by thread and time when matcher_write() says that all older ones have
 * come.
 *
 * Times are those of the recording's clock, in ns. All functions belong to one thread; those that
 * return an error fail only when out of memory.
 */
#pragma once

#include "base/error.h"
#include "base/hash.h"
#include "capture/ring_bank/record_offsets.h"
#include "record/encode.h"
#include "record/task_change.h"

/* Interval of snapshots if not each switch is sampled, by snapshot_age_ns. */
#define MATCHER_PART_SNAPSHOT_NS(age_ns) ((age_ns) / 2)

struct matcher_options {
	struct record_fields fields; /* offsets in the event's samples; they have a period */
	uint64_t thin_ns;            /* T; at most UINT32_MAX */
	uint64_t snapshot_ns;        /* interval of snapshots */
	uint64_t snapshot_age_ns;    /* shortest wait with a snapshot if not each is sampled */
	size_t threads_max;          /* limit for threads */
	size_t bytes_max;            /* limit for samples that are held */
	void (*on_end)(void *arg, uint32_t tid); /* a thread has ended; NULL: none */
	void *arg;
};

/* Sums since the beginning, but for the last two. */
struct matcher_counts {
	uint64_t switches;   /* off a CPU */
	uint64_t waits;      /* complete and unfinished ones */
	uint64_t bare;       /* waits without a stack */
	uint64_t written;    /* samples */
	uint64_t dropped;    /* samples that exceeded a limit: their waits are bare */
	uint64_t unmatched;  /* waits of unknown duration, because SWITCH records are missing */
	uint64_t raced;      /* snapshots of threads that ran meanwhile */
	uint64_t preempted_ns; /* time of preempted threads */
	/* Times of samples written since the last matcher_write() began; 0: none */
	uint64_t first_ns, last_ns;
};

struct matcher;

/* Options are copied. NULL when out of memory. */
struct matcher *matcher_new(const struct matcher_options *options);
void matcher_free(struct matcher *matcher);

/* Samples with that id are those of the event offcpu-time. */
struct sp_error *matcher_add_id(struct matcher *matcher, uint64_t id) SP_MUST_CHECK;
bool matcher_has_id(const struct matcher *matcher, uint64_t id);

/* Adds a copy of a whole SAMPLE record of the event. */
struct sp_error *matcher_add_sample(struct matcher *matcher, const uint8_t *record) SP_MUST_CHECK;

/* Moves the event's samples out of a buffer of whole records: those of other events stay in it. */
struct sp_error *matcher_take_samples(struct matcher *matcher,
				      struct record_buffer *buffer) SP_MUST_CHECK;

/*
 * Adds a SWITCH or SWITCH_CPU_WIDE record of a thread. `misc`: of its header. The idle thread is
 * ignored.
 */
struct sp_error *matcher_add_switch(struct matcher *matcher, uint32_t pid, uint32_t tid,
				    uint32_t cpu, uint64_t time_ns,
				    uint16_t misc) SP_MUST_CHECK;

/* Sets that one of `each` switches is sampled from a time on; 0: none. At first, each is. */
void matcher_set_sampled(struct matcher *matcher, uint64_t from_ns, uint32_t each);

/*
 * Writes preempted threads with that id from now on. The event's samples have the same fields.
 * Shorter times than `thin_ns` are thinned: at least those below options.thin_ns. At first, none
 * are written.
 */
void matcher_write_preempted(struct matcher *matcher, uint64_t id, double thin_ns);

/*
 * Notes that the kernel lost records of any thread, by a LOST record; or that events are enabled
 * again.
 */
void matcher_add_lost(struct matcher *matcher, uint64_t time_ns);

/* Notes that events are disabled: no records come until matcher_add_lost(). Waits end. */
struct sp_error *matcher_disable(struct matcher *matcher, uint64_t time_ns) SP_MUST_CHECK;

/*
 * Adds a thread that ran before the recording, which began at `begin_ns`. If a snapshot finds it
 * blocked before it has switched, it has waited since then.
 */
struct sp_error *matcher_add_thread(struct matcher *matcher, uint32_t pid, uint32_t tid,
				  uint64_t begin_ns) SP_MUST_CHECK;

struct matcher_thread {
	uint32_t pid, tid;
	bool unsampled; /* no sample of its switch will come: it went off before the recording, or
			 * when records were lost */
};

/*
 * Limit of matcher_next_bare(): besides unsampled threads, those that wait since before a time.
 * This one: also those that ran at their last record.
 */
#define MATCHER_BARE UINT64_MAX

/*
 * The next thread that may wait without a stack. A thread that is known to wait is returned once in
 * this wait, or again if its snapshot was early (wait_output.h). *at is 0 at first. False: there is
 * no other.
 */
bool matcher_next_bare(struct matcher *matcher, uint64_t before_ns, size_t *at,
		       struct matcher_thread *ret);

/* Adds the begin or end of a thread. */
struct sp_error *matcher_on_change(struct matcher *matcher,
				   const struct task_change *change) SP_MUST_CHECK;

/*
 * Appends the waits that ended before `safe_ns`. All records before that time have been added,
 * except such that are lost.
 */
struct sp_error *matcher_write(struct matcher *matcher, uint64_t safe_ns,
			     struct record_buffer *output) SP_MUST_CHECK;

/*
 * Appends the unfinished waits, marked SP_MISC_UNFINISHED. They last until `end_ns`, and begin
 * again there, so that the next file has the rest. Call matcher_write() before, with the same time.
 */
struct sp_error *matcher_split(struct matcher *matcher, uint64_t end_ns,
			     struct record_buffer *output) SP_MUST_CHECK;

/* Returns the time of the oldest sample that may still be written; UINT64_MAX: there is none. */
uint64_t matcher_oldest_ns(const struct matcher *matcher);

/* Valid until matcher_free(). */
const struct matcher_counts *matcher_counts(const struct matcher *matcher);
