/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An event of its own that is not recorded: each time that it happens, a file ends (perf's
 * --switch-output-event). It is watched on all CPUs where that is allowed, else in what is recorded.
 */
#ifndef CAPTURE_EVENT_CONTROL_TRIGGER_H
#define CAPTURE_EVENT_CONTROL_TRIGGER_H

#include "base/vec.h"
#include "event/set.h"
#include "ring/ring.h"

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

/* Whether it has happened since this was asked last. */
bool trigger_take(struct trigger *trigger);

#endif
