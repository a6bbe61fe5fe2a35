/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lifetimes of threads and processes created during the recording. An inherited event begins in each
 * task with a whole period, so short tasks are never sampled. Their lifetimes tell how much is missing
 * (unsampled.c).
 */
#pragma once

#include <sprof/record.h>
#include "base/hash.h"
#include "base/vec.h"

/* Events of a task. At one time, an earlier task's end comes before a begin. */
enum lifetime_event_kind { LIFETIME_ENDS, LIFETIME_BEGINS, LIFETIME_EXEC };

struct lifetime_event {
	uint64_t time_ns;
	uint32_t pid, tid;
	enum lifetime_event_kind kind;
};

struct lifetime {
	uint64_t begin_ns, end_ns;
	uint32_t pid, tid;
	uint32_t execs; /* number of programs that it executed */
};

/* CPU time of a task by SWITCH records in any order: sum of ends minus sum of begins of its runs. */
struct lifetime_runs {
	int64_t sum_ns;
	int64_t open; /* begins minus ends; 0: all are known */
};

struct lifetimes {
	bool wanted; /* some event is inherited; else nothing is kept */
	VEC(struct lifetime_event) events;
	struct u64map runs_of; /* tid -> index in `runs` */
	VEC(struct lifetime_runs) runs;
	VEC(struct lifetime) lifetimes; /* sorted by thread and time after lifetimes_finish() */
};

/* A zeroed struct, with `wanted` set, is ready. */
void lifetimes_deinit(struct lifetimes *lifetimes);

/* Adds FORK, EXIT, COMM, SWITCH and SWITCH_CPU_WIDE records, in any order; ignores others. */
struct sp_error *lifetimes_add(struct lifetimes *lifetimes,
			       const struct sp_record *record) SP_MUST_CHECK;

/* Ends the adding. Tasks that did not end get the end `end_ns`. False when out of memory. */
bool lifetimes_finish(struct lifetimes *lifetimes, uint64_t end_ns);

/* Gets the CPU time of all tasks with that number; false if no records state it. */
bool lifetimes_cpu_ns(const struct lifetimes *lifetimes, uint32_t tid, uint64_t *ret);
