/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a sample's call chain ended. */
#ifndef ANALYSIS_STACK_END_H
#define ANALYSIS_STACK_END_H

#include <sprof/record.h>

enum stack_end {
	STACK_COMPLETE,
	STACK_TRUNCATED,
	STACK_NO_UNWIND_INFO,
	STACK_BAD_MEMORY,
	STACK_DEPTH_LIMIT,
	STACK_NO_CHAIN,
	STACK_END_COUNT,
};

/*
 * `outermost`: the chain's last call is in a function where threads begin.
 *
 * A chain that the kernel made does not say how it ended: it is whole if it leads
 * to where threads begin, and cut at the limit if it has as many calls as that
 * allows (sample_max_stack, else the kernel's default).
 */
enum stack_end stack_end_of(const struct perf_event_attr *attr, const struct sp_record *record,
			    bool outermost);

#endif
