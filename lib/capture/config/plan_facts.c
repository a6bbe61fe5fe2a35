/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/plan_facts.h"

#include "record/types.h"

bool attr_is_clock(const struct perf_event_attr *attr)
{
	return record_is_clock(attr->type, attr->config);
}

uint64_t plan_rate_hz(const struct event_plan *plan)
{
	const struct perf_event_attr *attr = &plan->samples[0].attr;
	if (plan->freq_hz || !attr_is_clock(attr) || !attr->sample_period)
		return plan->freq_hz;
	return 1000000000 / attr->sample_period;
}

uint64_t plan_common_type(const struct event_plan *plan)
{
	uint64_t type = plan->samples[0].attr.sample_type;
	for (size_t i = 1; i < plan->sample_count; i++)
		type &= plan->samples[i].attr.sample_type | ~(uint64_t)PERF_SAMPLE_PERIOD;
	return type;
}

bool plan_is_unwound(const struct event_plan *plan, bool live)
{
	return live && plan->samples[0].attr.sample_type & PERF_SAMPLE_STACK_USER;
}
