/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening events task by task. Tasks are created and end meanwhile, so tasks are listed and opened in
 * passes, until no task may be without events: coverage.h decides which those are.
 */
#pragma once

#include "capture/tasks/coverage.h"
#include "capture/tasks/tasks.h"
#include "event/set.h"

/* Zeroed except for what the user sets, it is ready. */
struct task_attachment {
	struct recorded_tasks *tasks; /* borrowed, as are the set and the rings */
	struct event_set *set;
	struct ring *rings;           /* the metadata rings, as for tasks_drain() */
	struct coverage coverage;     /* `follow`: new tasks inherit events */
};

void task_attachment_deinit(struct task_attachment *attachment);

/* Lists the threads of the target and opens their events. Fails like tasks_attach(). */
struct sp_error *attach_tasks(struct task_attachment *attachment) SP_MUST_CHECK;

/*
 * Opens events of tasks created by forks that were still under way at the end of attach_tasks(). Call it
 * after some milliseconds of other work.
 */
struct sp_error *attach_tasks_again(struct task_attachment *attachment) SP_MUST_CHECK;
