/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event of its own that is not recorded: each time that it happens, a file ends (perf's
 * --switch-output-event). It is watched on all CPUs where that is allowed, else in what is recorded.
 */
#ifndef CAPTURE_TRIGGER_H
#define CAPTURE_TRIGGER_H

#include "base/vec.h"
#include "event/set.h"
#include "ring/ring.h"

struct sp_capture;
struct capture_options;

/* trigger_init()ed: there is none. */
struct trigger {
	struct event_specs specs;
	struct event_plan *plan;
	struct event_set *set;
	struct ring *rings;    /* of each of the CPUs that are recorded */
	size_t ring_count;
};

void trigger_init(struct trigger *trigger);
void trigger_deinit(struct trigger *trigger);

/* Once rights and CPUs are known: what it would be, or why it cannot be had. */
struct sp_error *trigger_plan(struct trigger *trigger, const struct sp_capture *capture,
			      const struct capture_options *options) SP_MUST_CHECK;

/* Opens it, and watches it. */
struct sp_error *capture_watch_trigger(struct sp_capture *capture) SP_MUST_CHECK;

/* Whether it has happened since this was asked last. */
bool trigger_take(struct trigger *trigger);

#endif
