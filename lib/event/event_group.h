/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of events, tried in the kernel, and events that cannot be recorded. */
#pragma once

#include "event/open.h"

struct event_grouping {
	const struct event_kernel *kernel;
	struct event_plan *plan; /* has the groups' events, each planned alone */
	const struct event_specs *specs;
	int32_t pid, cpu;        /* task and CPU on which groups are tried */
};

/*
 * Tries each group as a whole. A refused weak group (W) is split, with a note; other refused groups are
 * an error. Sets leader and member_count of the planned events.
 */
struct sp_error *event_groups_plan(const struct event_grouping *grouping) SP_MUST_CHECK;

/* Fails with SP_ERROR_UNSUPPORTED or SP_ERROR_INVALID if the event cannot be recorded as requested. */
struct sp_error *event_kind_check(const struct event_request *request,
				  const struct event_spec *spec) SP_MUST_CHECK;
