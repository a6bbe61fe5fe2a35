/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notes of threads' CPU time and time of waiting for a CPU, as the kernel counts them
 * (/proc/PID/task/TID/schedstat). SWITCH records lack the time of the switch itself.
 *
 * A young thread is read more often: at any time, its last note is of the last half of its life, or
 * of the last two seconds, unless it has not switched since. All functions belong to one thread,
 * and fail only when out of memory. Times named monotonic_ns are CLOCK_MONOTONIC.
 */
#pragma once

#include "base/hash.h"
#include "capture/tasks/tasks.h"

/* Intervals between two notes of a thread: they double from the first to the last. */
#define SCHEDSTAT_FIRST_NS UINT64_C(10000000)
#define SCHEDSTAT_LAST_NS UINT64_C(2000000000)

struct schedstat_thread {
	uint32_t pid, tid;
	bool switched;   /* since its last note */
	uint64_t due_ns; /* monotonic; 0: not yet known */
	uint64_t step_ns;
};

/* `tasks` and `notes` are borrowed. Zeroed, except for these: empty. */
struct schedstat {
	const struct recorded_tasks *tasks;
	struct record_buffer *notes;  /* notes of the current file are appended */
	struct { VEC(struct schedstat_thread); } threads;
	struct u64map index_of;       /* tid -> index in `threads` */
	uint64_t round_ns;            /* monotonic time of the last schedstat_round() that read */
};

void schedstat_deinit(struct schedstat *schedstat);

/* Adds the threads of processes that are attached to. */
struct sp_error *schedstat_begin(struct schedstat *schedstat) SP_MUST_CHECK;

/* Applies a SWITCH record of a thread, which is added if it is new. */
struct sp_error *schedstat_on_switch(struct schedstat *schedstat, uint32_t pid,
				     uint32_t tid) SP_MUST_CHECK;

/* Removes a thread that has ended. */
void schedstat_remove(struct schedstat *schedstat, uint32_t tid);

/* Notes the threads that are due. */
struct sp_error *schedstat_round(struct schedstat *schedstat, uint64_t monotonic_ns) SP_MUST_CHECK;

/* Notes all threads: a file begins or ends. */
struct sp_error *schedstat_note_all(struct schedstat *schedstat) SP_MUST_CHECK;

/* Notes the command's first thread, if it has ended and is not reaped: its last count. */
struct sp_error *schedstat_note_command(struct schedstat *schedstat) SP_MUST_CHECK;
