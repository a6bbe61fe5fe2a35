/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/stack_end.h"

#include "analysis/chain.h"

/* /proc/sys/kernel/perf_event_max_stack, if nobody changed it; the file does not say. */
#define DEPTH_DEFAULT 127

enum stack_end stack_end_of(const struct perf_event_attr *attr, const struct sp_record *record,
			    bool outermost)
{
	const struct sp_sample *sample = &record->sample;
	size_t limit = attr->sample_max_stack ? attr->sample_max_stack : DEPTH_DEFAULT;
	if (!(sample->present & PERF_SAMPLE_CALLCHAIN) || !sample->ip_count)
		return STACK_NO_CHAIN;
	if (outermost)
		return STACK_COMPLETE;
	if (sample->ip_count >= limit && chain_depth(sample) >= limit)
		return STACK_DEPTH_LIMIT;
	return STACK_TRUNCATED;
}
