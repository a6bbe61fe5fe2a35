/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens the planned events for the target, and describes running tasks. On whole CPUs no task is
 * missed: metadata events are open before /proc is read, and samples are filtered by the records
 * later. Task by task, tasks begin and end while events are opened: see attach_tasks.h.
 */
#pragma once

#include "capture/tasks/tasks.h"
#include "event/set.h"

/* Collaborators of tasks_attach(), borrowed. */
struct attach_parts {
	struct event_set *set;
	struct ring *rings;     /* the metadata rings, as for tasks_drain() */
	bool describes_at_end;  /* processes are left to tasks_describe_tail() */
};

/*
 * After tasks_connect(). Fails with SP_ERROR_NOT_FOUND if a process given by pid does not exist, with
 * SP_ERROR_LIMIT if files or memory do not suffice, and like event_set_open(). Adds a note if tasks
 * may be without events.
 */
struct sp_error *tasks_attach(struct recorded_tasks *tasks, const struct attach_parts *parts) SP_MUST_CHECK;
