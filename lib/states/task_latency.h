/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Number of each process's threads that could run, over time, and the integral of its inverse. */
#pragma once

#include "states/task_lives.h"

/* A zeroed struct is empty. */
struct task_latency {
	struct task_events steps; /* threads are processes; cpu is the number from the step on */
	/* Before each step with an index that is a multiple of TASK_LATENCY_EACH. */
	VEC(double) integrals;
};

#define TASK_LATENCY_EACH 64

void task_latency_deinit(struct task_latency *latency);

/* Returns false when out of memory. */
bool task_latency_make(struct task_latency *latency, const struct task_lives *lives);

/* Returns the integral of 1/number from a time to a later one; 0 for an unknown process. */
double task_latency_between(const struct task_latency *latency, uint32_t pid, uint64_t from_ns,
			    uint64_t until_ns);

/* Returns the number at a time. */
uint32_t task_latency_number(const struct task_latency *latency, uint32_t pid, uint64_t time_ns);
