/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes related to the target by descent: those that --descendants adds, and those that the
 * recording lacks (children of an attached process, processes that the command left running).
 */
#pragma once

#include "capture/tasks/tasks.h"

/*
 * With --descendants, adds the descendants of `roots` that run now to `processes`; those that may not
 * be attached to, to `refused`. A scan of /proc misses processes forked meanwhile. On whole CPUs, one
 * scan suffices: metadata events are open before it, and FORK records report later forks. Task by task,
 * attach.c repeats the scan until it finds nothing to open.
 */
struct sp_error *tasks_find_descendants(struct recorded_tasks *tasks) SP_MUST_CHECK;

/* Adds a note that names `refused`, if there are any. */
struct sp_error *tasks_note_refused(struct recorded_tasks *tasks) SP_MUST_CHECK;

/* Reads CPU times at the beginning, for tasks_end_descent(). */
struct sp_error *tasks_begin_descent(struct recorded_tasks *tasks) SP_MUST_CHECK;

/*
 * At the end, lists in `unrecorded`, by pid, the related processes that are not recorded; of a
 * command that ended, the members that still run. For targets given by pid, it also adds up
 * `used_ns`.
 */
struct sp_error *tasks_end_descent(struct recorded_tasks *tasks) SP_MUST_CHECK;
