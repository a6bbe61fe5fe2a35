/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of waits: which of them are written, and their periods. see matcher.h. */
#pragma once

#include "capture/waits/threads.h"
#include "capture/waits/matcher.h"

/* Part of the switches that were sampled, from a time on. */
struct sampled_part {
	uint64_t from_ns;
	uint32_t each; /* one of that many; 0: none */
};

/* The last parts, in a circle. */
#define SAMPLED_PARTS 16

struct sampled_parts {
	struct sampled_part items[SAMPLED_PARTS];
	size_t count; /* number of parts so far; 0: each switch is sampled */
};

/* Samples of preempted threads. */
struct preempted_output {
	uint64_t id;      /* their event's, in the file; 0: none are written */
	uint64_t thin_ns; /* threshold for thinning */
};

/* All are borrowed. */
struct wait_output {
	const struct sampled_parts *parts;
	const struct matcher_options *options;
	struct matcher_counts *counts;
	const struct preempted_output *preempted;
	struct record_buffer *to; /* samples are appended */
};

/* Returns the part of the switches that was sampled at a time, as struct sampled_part. */
uint32_t sampled_part_at(const struct sampled_parts *parts, uint64_t time_ns);

/*
 * Returns whether the thread holds a snapshot of unknown probability: a part of the switches was
 * sampled, and the wait was younger than snapshot_age_ns. Only an unfinished wait is written with
 * it.
 */
bool wait_output_is_early(const struct matcher_options *options,
			  const struct waiting_thread *thread);

/*
 * Appends the sample that a thread holds, with its time off the CPU until `end_ns` as the period.
 * Appends nothing if it holds none, if the time is 0, if thinning leaves the wait out, or if the
 * wait is over and its snapshot early. Thinned waits and snapshots may have larger periods. `misc`:
 * more bits of the record. The thread still holds the sample. Counts the wait or the preempted
 * time, also without a sample. Fails only when out of memory.
 */
struct sp_error *wait_output_write(const struct wait_output *output,
				   struct waiting_thread *thread, uint64_t end_ns,
				   uint16_t misc) SP_MUST_CHECK;
