/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading /proc again after metadata records were lost: running tasks and their mappings become
 * records with the time of the loss. If a CPU is back, they have the time of reading instead: most
 * processes changed elsewhere, and an earlier time would replace mappings that their samples need.
 */
#pragma once

#include "capture/tasks/tasks.h"

/* Minimum time between two rescans, because each takes CPU time in which more may be lost. */
#define RESCAN_INTERVAL_NS 1000000000

/*
 * Requests a rescan, for records that may be lost without a LOST record: the kernel reports a loss with
 * the next record that finds room, and on an idle CPU that may never come. at_once: a CPU is back; ignore
 * the interval.
 */
void tasks_request_rescan(struct recorded_tasks *tasks, bool at_once);

/*
 * Returns whether to rescan now: records were lost or a rescan was requested, and the interval is
 * over (or it is the last round, or the record of the command's exec was lost). If so, removes the
 * request, and begins the interval at `monotonic_ns`.
 */
bool tasks_start_rescan(struct recorded_tasks *tasks, uint64_t monotonic_ns, bool last);

/*
 * Follows the command, and running processes that descend from recorded ones, from `from_ns` on.
 * Appends their records to `synthesised`, and removes ended tasks. *running_ret receives all
 * running processes. Adds a note at the first loss.
 */
struct sp_error *tasks_rescan(struct recorded_tasks *tasks, uint64_t from_ns, uint64_t now_ns,
			      struct task_list *running_ret) SP_MUST_CHECK;

/*
 * Describes the command's mappings again after a loss, if tasks_start_rescan() returned false. Does
 * not wait for RESCAN_INTERVAL_NS: a loss leaves at most a sixteenth of the command's age without
 * mappings. `begin_ns` is the monotonic time of its start.
 */
struct sp_error *tasks_rescan_command(struct recorded_tasks *tasks, uint64_t monotonic_ns,
				      uint64_t begin_ns, uint64_t from_ns) SP_MUST_CHECK;

/*
 * Removes followed tasks that have ended, once a second after a rescan. One may have been found in
 * /proc after its EXIT record came, and tasks_is_over() would wait for it forever.
 */
struct sp_error *tasks_look_for_ended(struct recorded_tasks *tasks, uint64_t monotonic_ns) SP_MUST_CHECK;
