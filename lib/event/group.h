/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of events as the kernel takes them, and what of events cannot be recorded at all. */
#ifndef EVENT_GROUP_H
#define EVENT_GROUP_H

#include "event/open.h"

struct event_grouping {
	const struct event_kernel *kernel;
	struct event_plan *plan; /* its samples are planned, each for itself */
	const struct event_specs *specs;
	int32_t pid, cpu;        /* place at which to try */
};

/*
 * Tries each group together. One that is refused and weak (W) is taken apart, with a note; else it
 * fails with what is wrong. Sets leader and member_count of what is planned.
 */
struct sp_error *event_groups_plan(const struct event_grouping *grouping) SP_MUST_CHECK;

/* SP_ERROR_UNSUPPORTED or _INVALID where that event is not one to be recorded so. */
struct sp_error *event_kind_check(const struct event_request *request,
				  const struct event_spec *spec) SP_MUST_CHECK;

#endif
