/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attributes of one event that differ from those common to the recording: by the event's kind and its
 * terms.
 */
#ifndef EVENT_ATTR_BUILD_H
#define EVENT_ATTR_BUILD_H

#include "event/open.h"

struct event_shape {
	const struct event_request *request;
	const struct event_spec *spec;
	uint64_t most_hz;     /* highest sampling rate that the kernel allows, in samples per second */
	bool cpu_wide;
	bool is_member;       /* the event is in a group, and is not its leader */
	bool group_is_large;  /* the event leads a group of several events */
};

/*
 * *attr has the common attributes and the spec's type, config and modes; this function adds the rest.
 * Adds a note for each deviation from the request. Fails when out of memory, or if a term cannot be
 * applied.
 */
struct sp_error *event_attr_build(const struct event_shape *shape, struct event_notes *notes,
				  struct perf_event_attr *attr) SP_MUST_CHECK;

#endif
