/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times in which records were lost, by CPU. Lookups take logarithmic time, however many gaps there are. */
#pragma once

#include "base/vec.h"

struct task_gap {
	uint64_t begin_ns, end_ns;
	uint64_t before_ns; /* sum of the gaps before, in the same list */
	uint32_t cpu;       /* TASK_CPU_UNKNOWN: any */
};

/* Disjoint gaps that ascend. Borrowed. */
struct task_gap_list {
	const struct task_gap *items;
	size_t count;
};

/* A zeroed struct has no gaps. */
struct task_gaps {
	VEC(struct task_gap) by_cpu; /* sorted by CPU and time after task_gaps_seal() */
	VEC(struct task_gap) all;    /* union of all */
	bool any_cpu;                /* the CPU of some gap is unknown */
};

void task_gaps_deinit(struct task_gaps *gaps);

/* Adds a gap. Returns false when out of memory. */
bool task_gaps_add(struct task_gaps *gaps, uint32_t cpu, uint64_t begin_ns, uint64_t end_ns);

/* Sorts the gaps, and merges those that overlap. Returns false when out of memory. */
bool task_gaps_seal(struct task_gaps *gaps);

/* Returns the gaps of a CPU, or of all CPUs for TASK_CPU_UNKNOWN or if the CPU of some gap is unknown. */
struct task_gap_list task_gaps_of(const struct task_gaps *gaps, uint32_t cpu);

/* Returns how much of a time is in gaps. */
uint64_t task_gaps_overlap(struct task_gap_list list, uint64_t begin_ns, uint64_t end_ns);

/*
 * Gets the part around a time that is entirely in a gap or outside of all, within [*begin_ns, *end_ns).
 * Returns whether it is in a gap.
 */
bool task_gaps_cut(struct task_gap_list list, uint64_t time_ns, uint64_t *begin_ns, uint64_t *end_ns);
