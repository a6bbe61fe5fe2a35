/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes of records before all other reading, in plain memory. The kernel's rings are read-only:
 * records are moved to others first (capture/ring_bank/drain_threads.h). Changed are:
 *
 * - times, if the clock can be set (CLOCK_REALTIME, CLOCK_TAI). The kernel uses CLOCK_MONOTONIC, and
 *   the difference at the start is added. Times are thus the clock's until it is set, and always
 *   increase. Otherwise all decisions by time (followed tasks, mappings) would be wrong, in readers, too.
 *
 * - ids of events that were opened again after their CPU was offline
 *   (capture/event_control/cpu_hotplug.h): the file lists the first ids. Counts in samples continue.
 *
 * Apply them once to each record.
 */
#pragma once

#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "capture/ring_bank/record_offsets.h"
#include "ring/ring.h"

struct rewrite_name {
	uint64_t listed;
	uint64_t counted;     /* added to counts in samples: by those that it has the place of */
	uint64_t read_format; /* read_format of its samples; 0: they have no PERF_SAMPLE_READ */
	uint32_t read_at;     /* offset of PERF_SAMPLE_READ in its samples */
};

struct rewrite {
	uint64_t shift_ns; /* added to times, modulo 2^64 */
	struct u64map ids; /* the kernel's id -> index in `names` */
	struct { VEC(struct rewrite_name); } names;
};

void rewrite_deinit(struct rewrite *rewrite);

/* Renames the event that has `id` in the rings. Fails only without memory. */
struct sp_error *rewrite_rename(struct rewrite *rewrite, uint64_t id,
				struct rewrite_name name) SP_MUST_CHECK;

/* Changes one whole record of `size` bytes. */
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
