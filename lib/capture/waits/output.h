/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of waits: which of them are written, and their periods. see matcher.h. */
#ifndef CAPTURE_WAITS_OUTPUT_H
#define CAPTURE_WAITS_OUTPUT_H

#include "capture/waits/threads.h"
#include "capture/waits/matcher.h"

/* All are borrowed. */
struct wait_output {
	const struct matcher_options *options;
	struct matcher_counts *counts;
	struct record_buffer *to; /* samples are appended */
};

/*
 * Writes the stack that a thread holds, as that of its wait until `end_ns`. `misc`: more bits of the record.
 * Counts the wait, also without a stack. Fails only when out of memory.
 */
struct sp_error *wait_output_write(const struct wait_output *output, const struct waiting_thread *thread,
				   uint64_t end_ns, uint16_t misc) SP_MUST_CHECK;

#endif
