/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is changed of records before anybody looks at them, in plain memory (the kernel's rings
 * may not be written to, so that others stand behind them: capture/ring_bank/drain_threads.h):
 *
 * - times, where they shall be of a clock that may be set (CLOCK_REALTIME, CLOCK_TAI). The kernel
 *   is asked for CLOCK_MONOTONIC, and what that was behind at the start is added: so times are
 *   those of the clock until it is set, and go on evenly then. Otherwise all that goes by time
 *   (who was followed, what was mapped) would be wrong, here and in every reader.
 *
 * - ids of events that were opened once more, as their CPU was offline (capture/event_control/cpu_hotplug.h):
 * the file lists those that they had at the start. Counts in samples go on from theirs.
 *
 * To be applied once to each record.
 */
#ifndef CAPTURE_RING_BANK_REWRITE_H
#define CAPTURE_RING_BANK_REWRITE_H

#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "capture/ring_bank/fields.h"
#include "ring/ring.h"

struct rewrite_name {
	uint64_t listed;
	uint64_t counted;     /* added to counts in samples: by those that it has the place of */
	uint64_t read_format; /* of PERF_SAMPLE_READ in its samples; 0: they have none */
	uint32_t read_at;     /* offset of PERF_SAMPLE_READ in its samples */
};

struct rewrite {
	uint64_t shift_ns; /* added to times, modulo 2^64 */
	struct u64map ids; /* those of the kernel: index in `names` */
	struct { VEC(struct rewrite_name); } names;
};

void rewrite_deinit(struct rewrite *rewrite);

/* What has `id` in the rings goes by that name. Fails only for want of memory. */
struct sp_error *rewrite_rename(struct rewrite *rewrite, uint64_t id,
				struct rewrite_name name) SP_MUST_CHECK;

/* Of a record that is there in its whole size; of no sample, what counts as its size. */
void rewrite_record(const struct rewrite *rewrite, const struct record_fields *fields,
		    struct ring *ring, uint64_t position, uint32_t type, uint32_t size);

/* Changes all records of the ring before `end`, or before damage. Call it once for each of them. */
void rewrite_ring(const struct rewrite *rewrite, const struct record_fields *fields, struct ring *ring,
		  uint64_t end);

static inline bool rewrite_is_needed(const struct rewrite *rewrite)
{
	return rewrite && (rewrite->shift_ns || rewrite->names.count);
}

/* The same of a copy, for anything but samples. */
static inline void rewrite_copy(const struct rewrite *rewrite, const struct record_fields *fields,
				uint8_t *copy, uint32_t type, uint32_t size)
{
	struct ring ring = {.data = copy, .size = 1U << 16};
	rewrite_record(rewrite, fields, &ring, 0, type, size);
}

#endif
