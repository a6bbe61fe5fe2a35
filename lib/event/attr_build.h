/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How one event differs from the others of its recording: its kind's habits, and its terms. */
#ifndef EVENT_ATTR_BUILD_H
#define EVENT_ATTR_BUILD_H

#include "event/open.h"

struct event_shape {
	const struct event_request *request;
	const struct event_spec *spec;
	uint64_t most_hz;     /* samples a second that the kernel allows */
	bool cpu_wide;
	bool is_member;       /* in a group, and not its leader */
	bool group_is_large;  /* it leads others */
};

/*
 * *attr is what all events have in common, with the spec's own type, config and modes; it becomes
 * the event's. Notes are of what is done otherwise than was asked. Fails for want of memory, and
 * where a term cannot be had.
 */
struct sp_error *event_shape_attr(const struct event_shape *shape, struct event_notes *notes,
				  struct perf_event_attr *attr) SP_MUST_CHECK;

#endif
