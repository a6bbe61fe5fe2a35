/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes records of the kernel and of running tasks, in tasks_parts.synthesised. */
#pragma once

#include "capture/tasks/tasks.h"
#include "event/set.h"

/*
 * Makes `synth`, with the id of the set's metadata event, and describes the kernel, the vdso and
 * control groups, as far as they are sampled. Adds a note if the kernel's symbols are hidden.
 */
struct sp_error *tasks_describe_system(struct recorded_tasks *tasks, struct event_set *set) SP_MUST_CHECK;

/*
 * Describes `processes`, or all processes of the system. Adds notes about those with unreadable
 * mappings.
 */
struct sp_error *tasks_describe_processes(struct recorded_tasks *tasks) SP_MUST_CHECK;

/* Describes threads that were found after their processes were described. */
struct sp_error *tasks_describe_later(struct recorded_tasks *tasks) SP_MUST_CHECK;

/* Describes the tasks that run at the end, instead of the two calls above. */
struct sp_error *tasks_describe_tail(struct recorded_tasks *tasks) SP_MUST_CHECK;
