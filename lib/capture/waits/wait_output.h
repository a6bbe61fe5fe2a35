/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of waits: which of them are written, and their periods. see matcher.h. */
#ifndef CAPTURE_WAITS_WAIT_OUTPUT_H
#define CAPTURE_WAITS_WAIT_OUTPUT_H

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

/* All are borrowed. */
struct wait_output {
	const struct sampled_parts *parts;
	const struct matcher_options *options;
	struct matcher_counts *counts;
	struct record_buffer *to; /* samples are appended */
};

/* Returns the part of the switches that was sampled at a time, as struct sampled_part. */
uint32_t sampled_part_at(const struct sampled_parts *parts, uint64_t time_ns);

/*
 * Writes the stack that a thread holds, as that of its wait until `end_ns`. `misc`: more bits of
 * the record. Counts the wait, also without a stack. Fails only when out of memory.
 */
struct sp_error *wait_output_write(const struct wait_output *output,
				   const struct waiting_thread *thread, uint64_t end_ns,
				   uint16_t misc) SP_MUST_CHECK;

#endif
