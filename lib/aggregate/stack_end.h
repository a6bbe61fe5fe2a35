/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How call chains ended. One that was unwound says so. A chain that the kernel made
 * does not: it is whole if it leads to where threads begin, and cut at the limit if it
 * has as many calls as that allows (sample_max_stack, else the kernel's default).
 */
#ifndef AGGREGATE_STACK_END_H
#define AGGREGATE_STACK_END_H

#include <linux/perf_event.h>
#include <sprof/profile.h>
#include <sprof/record.h>
#include <stdbool.h>
#include <stddef.h>

/* /proc/sys/kernel/perf_event_max_stack, if nobody changed it; the file does not say. */
#define STACK_DEPTH_DEFAULT 127

/* Besides what a recording says: the user's part was to come in a record that is not there. */
#define END_DEFERRED ((enum sp_misc_end)(SP_MISC_END_SWITCHED + 1))
/* No code can run at the next address. */
#define END_INVALID ((enum sp_misc_end)(SP_MISC_END_SWITCHED + 2))

/* `said`: by the recording; `outermost`: threads begin in the chain's last call. */
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

#endif
