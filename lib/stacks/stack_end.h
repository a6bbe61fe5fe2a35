/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides how call chains ended. In unwound chains this is recorded. In the kernel's own chains it is
 * not: they are complete if they end in a function where threads begin. They are cut off if they have
 * as many calls as the limit (sample_max_stack, else the kernel's default).
 */
#pragma once

#include <linux/perf_event.h>
#include <sprof/profile.h>
#include <sprof/record.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Kernel's default of /proc/sys/kernel/perf_event_max_stack. Recordings do not contain the actual
 * value.
 */
#define STACK_DEPTH_DEFAULT 127

/*
 * More values for how a chain ended: the deferred user part is missing; it would be in a later record.
 */
#define END_DEFERRED ((enum sp_misc_end)(SP_MISC_END_SWITCHED + 1))
/* The chain ends before an address where no code can run. */
#define END_INVALID ((enum sp_misc_end)(SP_MISC_END_SWITCHED + 2))

/* Number of values of enum sp_stack_end. */
#define STACK_ENDS (SP_STACK_INVALID_ADDRESS + 1)

/*
 * Returns how a stack ended. `said`: the end in the recording. `outermost`: threads begin in the
 * function of its outermost call.
 */
static inline enum sp_stack_end stack_end_of(const struct perf_event_attr *attr,
					     enum sp_misc_end said, bool outermost, size_t depth)
{
	size_t limit = attr->sample_max_stack ? attr->sample_max_stack : STACK_DEPTH_DEFAULT;
	if (said == END_DEFERRED)
		return SP_STACK_DEFERRED;
	if (said == END_INVALID)
		return outermost ? SP_STACK_COMPLETE : SP_STACK_INVALID_ADDRESS;
	switch (said) {
	case SP_MISC_END_COMPLETE:
		return SP_STACK_COMPLETE;
	case SP_MISC_END_TRUNCATED:
		return SP_STACK_TRUNCATED;
	case SP_MISC_END_NO_UNWIND_INFO:
		return SP_STACK_NO_UNWIND_INFO;
	case SP_MISC_END_BAD_MEMORY:
		return SP_STACK_BAD_MEMORY;
	case SP_MISC_END_DEPTH_LIMIT:
		return SP_STACK_DEPTH_LIMIT;
	case SP_MISC_END_SKIPPED:
		return SP_STACK_SKIPPED;
	case SP_MISC_END_SWITCHED:
		return SP_STACK_SWITCHED;
	case SP_MISC_END_UNKNOWN:
		break;
	}
	if (outermost)
		return SP_STACK_COMPLETE;
	return depth >= limit ? SP_STACK_DEPTH_LIMIT : SP_STACK_TRUNCATED;
}
