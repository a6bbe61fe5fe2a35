/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads and processes that are made while a recording goes on, with their times. Where
 * events are inherited by tasks each begins with a whole period, so that who lives shorter
 * is never sampled: what that was is to be told (unsampled.c).
 */
#ifndef SIDEBAND_TASK_LIFETIMES_H
#define SIDEBAND_TASK_LIFETIMES_H

#include <sprof/record.h>
#include "base/hash.h"
#include "base/vec.h"

/* One that begins or ends. */
struct lifetime_event {
	uint64_t time_ns;
	uint32_t pid, tid;
	bool ends;
};

struct lifetime {
	uint64_t begin_ns, end_ns;
	uint32_t pid, tid;
};

/* How long a task ran, by SWITCH records in any order: ends of runs less their beginnings. */
struct lifetime_runs {
	int64_t sum_ns;
	int64_t open; /* beginnings less ends; 0: all are known */
};

struct lifetimes {
	bool wanted; /* some event is inherited by tasks; else none are kept */
	VEC(struct lifetime_event) events;
	struct u64map runs_of; /* tid -> index in `runs` */
	VEC(struct lifetime_runs) runs;
	VEC(struct lifetime) lifetimes; /* once finished: by thread and time */
};

/* Zeroed but for `wanted`, it is ready. */
void lifetimes_deinit(struct lifetimes *lifetimes);

/* FORK, EXIT, SWITCH and SWITCH_CPU_WIDE, in any order; others are ignored. */
struct sp_error *lifetimes_add(struct lifetimes *lifetimes,
			       const struct sp_record *record) SP_MUST_CHECK;

/* All were added; who has not ended did so at `end_ns`. False when out of memory. */
bool lifetimes_finish(struct lifetimes *lifetimes, uint64_t end_ns);

/* The CPU time of all tasks of that number; false where no records say. */
bool lifetimes_cpu_ns(const struct lifetimes *lifetimes, uint32_t tid, uint64_t *ret);

#endif
