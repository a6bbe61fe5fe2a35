/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/plan_facts.h"

#include "record/types.h"

/* Range of rates: wide enough to leave a step that is one of the two in a small ratio. */
#define DITHER_MOST 0.5
#define DITHER_LEAST 0.25

/* The kernel's timers of clocks: no period is shorter than 10 us. */
#define CLOCK_MAX_HZ 100000

/* Changes drop some samples, which the rate makes up for: at most this part. */
#define DITHER_DROPPED 0.05

bool attr_is_clock(const struct perf_event_attr *attr)
{
	return record_is_clock(attr->type, attr->config);
}

uint64_t plan_rate_hz(const struct event_plan *plan)
{
	const struct perf_event_attr *attr = &plan->samples[0].attr;
	if (attr->freq)
		return attr->sample_freq;
	return attr_is_clock(attr) && attr->sample_period ? 1000000000 / attr->sample_period
							   : plan->freq_hz;
}

bool plan_event_dithers(const struct event_plan *plan, size_t event)
{
	const struct perf_event_attr *attr = &plan->samples[event].attr;
	return attr_is_clock(attr) && attr->freq && attr->sample_freq;
}

double plan_dither_spread(const struct event_plan *plan, uint64_t max_hz)
{
	double least = 0;
	if (!plan->cpu_wide || plan->clock_id == EVENT_CLOCK_KERNEL ||
	    event_plan_has_groups(plan) || !(plan_common_type(plan) & PERF_SAMPLE_PERIOD))
		return 0;
	if (!max_hz || max_hz > CLOCK_MAX_HZ)
		max_hz = CLOCK_MAX_HZ;
	for (size_t i = 0; i < plan->sample_count; i++) {
		double hz = (double)plan->samples[i].attr.sample_freq * (1 + DITHER_DROPPED);
		if (plan->samples[i].in_cgroup)
			return 0;
		if (!plan_event_dithers(plan, i))
			continue;
		double most = (double)max_hz / hz - 1;
		most = most > DITHER_MOST ? DITHER_MOST : most;
		if (most < DITHER_LEAST)
			return 0;
		least = !least || most < least ? most : least;
	}
	return least;
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
