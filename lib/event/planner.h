/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State while a plan is made. Private to lib/event. */
#pragma once

#include <string.h>
#include "event/attr_refusal.h"
#include "event/open.h"

struct planner {
	const struct event_kernel *kernel;
	const struct event_request *request;
	struct event_plan *plan;
	struct perf_event_attr base; /* attributes common to all events */
	struct perf_event_attr sampling;
	struct event_asked asked; /* requested options that this kernel supports */
	enum event_callchain callchain;
};

/* The kernel's default limit, used if it cannot be read. */
#define DEFAULT_MAX_HZ 100000

static inline uint64_t planner_most_hz(const struct event_plan *plan)
{
	return plan->rights.max_sample_hz ? plan->rights.max_sample_hz : DEFAULT_MAX_HZ;
}

static inline bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

/* Bits of sample_type for callers by stack dumps. */
#define DUMPS ((uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER))

/* Plans one event: tries it, reduces attributes if needed, and adds it to the plan, or fails. */
struct sp_error *planner_plan_event(struct planner *planner, const struct event_spec *spec,
				    struct event_planned *event) SP_MUST_CHECK;

/* Returns the refused attempt for event_field_find_refused(). */
struct event_refusal planner_refusal(const struct planner *planner, const char *name,
				     const struct perf_event_attr *attr,
				     const struct sp_attr_tail *tail, int errnum);

/* Returns the error if the kernel refuses a field of the attr; NULL if it refuses the event itself. */
struct sp_error *planner_field_error(const struct planner *planner, const char *name,
				     const struct perf_event_attr *attr,
				     const struct sp_attr_tail *tail,
				     int errnum) SP_MUST_CHECK;

/* Returns the error for an event that is refused with all reductions. */
struct sp_error *planner_event_error(const struct planner *planner, const struct event_spec *spec,
				     const struct perf_event_attr *attr, int errnum) SP_MUST_CHECK;
