/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The open events: which are on, and which are opened again. */
#ifndef CAPTURE_EVENT_CONTROL_EVENT_CONTROL_H
#define CAPTURE_EVENT_CONTROL_EVENT_CONTROL_H

#include "capture/event_control/absence.h"
#include "capture/event_control/pace.h"
#include "capture/event_control/trigger.h"
#include "capture/event_control/turns.h"
#include "capture/event_control/wide.h"
#include "event/set.h"

struct event_control {
	struct event_set *set;
	struct turns turns;
	struct absences absences;
	struct trigger trigger;
	struct wide wide;               /* events that help to unwind */
	struct pace pace;               /* whether all of them are too fast */
};

#endif
