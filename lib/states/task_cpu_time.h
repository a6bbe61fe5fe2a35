/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU time by the kernel's counts (schedstat). The kernel counts a switch, with the samples that
 * are taken in it, as CPU time of the next thread; its SWITCH record comes later. In threads that
 * switch often, this is 10 % of the CPU time and more.
 *
 * A count that was read while the thread was off the CPU is exact. Between two such counts without
 * lost records, the difference to the time between SWITCH records is divided by the switches to
 * the thread, and each of these is moved to an earlier time by that. Waits become shorter. In all
 * of the life, also outside of counts, a switch then takes the same time.
 */
#pragma once

#include "states/task_lives.h"

/*
 * Moves the switches in `events`, from which the lives were made; before task_lives_sum(). Sets
 * `switch_ns` and `counted` of the totals. `file_end_ns`: later records are in another file; 0:
 * there is none.
 */
void task_cpu_time_fit(struct task_lives *lives, struct task_events *events, uint64_t file_end_ns);
