/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How call chains ended. A chain that the kernel made does not say: it is whole if
 * it leads to where threads begin, and cut at the limit if it has as many calls as
 * that allows (sample_max_stack, else the kernel's default).
 */
#ifndef ANALYSIS_STACK_END_H
#define ANALYSIS_STACK_END_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

enum stack_end {
	STACK_COMPLETE,
	STACK_TRUNCATED,
	STACK_NO_UNWIND_INFO,
	STACK_BAD_MEMORY,
	STACK_DEPTH_LIMIT,
	STACK_NO_CHAIN,
	STACK_END_COUNT,
};

/* /proc/sys/kernel/perf_event_max_stack, if nobody changed it; the file does not say. */
#define STACK_DEPTH_DEFAULT 127

/* `outermost`: threads begin in the chain's last call. */
static inline enum stack_end stack_end_of(const struct perf_event_attr *attr, bool outermost,
					  size_t depth)
{
	size_t limit = attr->sample_max_stack ? attr->sample_max_stack : STACK_DEPTH_DEFAULT;
	if (outermost)
		return STACK_COMPLETE;
	return depth >= limit ? STACK_DEPTH_LIMIT : STACK_TRUNCATED;
}

#endif
