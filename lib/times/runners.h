/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Number of threads of each process that could run, over time: on a CPU, or waiting for one. Mode
 * latency divides by it, and the timeline places the time in which it is 0. Preempted threads
 * count: without them, a serial part had 25 % of the time on a busy machine instead of 42 %.
 */
#pragma once

#include "base/vec.h"
#include "states/task_states.h"

/*
 * From this time on, until the next edge of the process, `count` of its threads could run, and the
 * states of `unknown` threads are not known.
 */
struct runners_edge {
	uint64_t time_ns;
	uint32_t pid;
	int32_t count, unknown;
};

/* A zeroed struct is empty. */
struct runners {
	VEC(struct runners_edge); /* ordered by pid and time */
};

void runners_deinit(struct runners *runners);

/* Makes the edges of all processes. Returns false when out of memory. */
bool runners_make(struct runners *runners, const struct task_states *states);

/* Returns the index of the process's first edge after a time. */
size_t runners_after(const struct runners *runners, uint32_t pid, uint64_t time_ns);

/* Returns the number of the process's threads that could run at a time; 1 if only unknown ones. */
uint32_t runners_number(const struct runners *runners, uint32_t pid, uint64_t time_ns);

/*
 * Returns the integral of 1/p over a time in which some thread could run, in ns; p is the number of
 * the process's threads that could.
 */
double runners_latency(const struct runners *runners, uint32_t pid, uint64_t from_ns,
		       uint64_t until_ns);

/*
 * Calls `visit` for each time from `from_ns` to `until_ns` in which no thread of a process could
 * run; `unknown`: as far as is known.
 */
void runners_each_idle(const struct runners *runners, uint32_t pid, uint64_t from_ns,
		       uint64_t until_ns,
		       void (*visit)(void *arg, uint64_t begin_ns, uint64_t end_ns, bool unknown),
		       void *arg);

static inline bool could_run(const struct task_interval *interval)
{
	return interval->state == TASK_RUNNING || interval->state == TASK_RUNNABLE;
}
