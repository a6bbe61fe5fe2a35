/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds running processes and threads of the target. */
#pragma once

#include "capture/tasks/tasks.h"

/*
 * Adds the processes that the target names by pid, thread or user to `processes`. The recorder is not
 * one of its user's. Fails with SP_ERROR_NOT_FOUND if a thread does not exist, or the user has no
 * processes; processes given by pid are looked up later (attach.h).
 */
struct sp_error *tasks_find(struct recorded_tasks *tasks,
			    const struct sp_capture_target *target) SP_MUST_CHECK;

/*
 * Adds descendants (descendants.h), lists the threads of all `processes`, and follows the wanted ones.
 * Fails with SP_ERROR_NOT_FOUND if a process does not exist.
 */
struct sp_error *tasks_find_threads(struct recorded_tasks *tasks) SP_MUST_CHECK;

/*
 * Reads the listed threads' stat lines into `stats` of their processes: processes that end before they are
 * described have names, too. Unfollows threads that have ended.
 */
struct sp_error *tasks_read_stats(struct recorded_tasks *tasks) SP_MUST_CHECK;

/* Follows a running thread, if it is wanted. */
struct sp_error *tasks_follow_wanted(struct recorded_tasks *tasks, uint32_t pid,
				     uint32_t tid) SP_MUST_CHECK;
