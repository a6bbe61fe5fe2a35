/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifetimes of a recording's threads, and their times by state: the library's table of states,
 * before samples divide it. Tests compare it with the scheduler's account.
 */
#ifndef TESTS_THREAD_LIVES_H
#define TESTS_THREAD_LIVES_H

#include <sprof/filter.h>
#include <sprof/reader.h>
#include <sprof/timeline.h>

/* Source of the time from waking to running. */
enum thread_split {
	THREAD_SPLIT_NONE,      /* it is part of blocked_ns */
	THREAD_SPLIT_SCHEDSTAT, /* the kernel's count; each wait has an equal part of it */
	THREAD_SPLIT_WAKING,    /* samples of wake-ups */
};

#define THREAD_SLICES 20

/* A thread's life in the recording. A tid that is used again has one for each thread. */
struct thread_life {
	uint32_t pid, tid;
	const char *comm;            /* last name */
	uint64_t begin_ns, end_ns;   /* in the recording's clock */
	struct sp_thread_times times; /* their sum is end_ns - begin_ns, less other times
				       * than the filter's */
	uint64_t waits, longest_wait_ns; /* blocked intervals */
	enum thread_split split;
	bool born, ended;            /* began, ended during the recording */
	struct sp_thread_times slices[THREAD_SLICES]; /* equal parts of the recording */
	bool counted;                /* running_ns is the kernel's count: it includes switches */
};

struct thread_lives;

/*
 * Reads the records of context switches, and not the samples of other events. `filter` selects
 * threads by comms, pids, tids and times; its other members must be empty. NULL: all threads. The
 * reader is used, as by sp_analysis_run(), and is needed no more afterwards.
 */
struct sp_error *thread_lives_new(struct sp_ctx *ctx, struct sp_reader *reader,
				       const struct sp_filter *filter,
				       struct thread_lives **ret) SP_MUST_CHECK;
/* NULL may be freed. */
void thread_lives_free(struct thread_lives *threads);

/* Returns whether the recording has context switches. If not, all times are unknown. */
bool thread_lives_known(const struct thread_lives *threads);

/* Begin and end of the recording, or of the filter's times; the slices divide it. */
uint64_t thread_lives_first_ns(const struct thread_lives *threads);
uint64_t thread_lives_last_ns(const struct thread_lives *threads);

/* Threads in order of time on a CPU, longest first. Valid until the threads are freed. */
size_t thread_lives_count(const struct thread_lives *threads);
const struct thread_life *thread_lives_at(const struct thread_lives *threads, size_t index);

#endif
