/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* States of a recording's threads: on a CPU, waiting for a CPU, or blocked. */
#ifndef SPROF_THREADS_H
#define SPROF_THREADS_H

#include <sprof/ctx.h>
#include <sprof/filter.h>
#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times in each state, in ns. */
struct sp_thread_times {
	uint64_t running_ns;  /* on a CPU */
	uint64_t runnable_ns; /* waiting for a CPU */
	uint64_t blocked_ns;  /* waiting for anything else */
	uint64_t unknown_ns;  /* records were lost */
};

/* Source of the time from waking to running. */
enum sp_thread_split {
	SP_THREAD_SPLIT_NONE,      /* it is part of blocked_ns */
	SP_THREAD_SPLIT_SCHEDSTAT, /* the kernel's count; slices have it in blocked_ns */
	SP_THREAD_SPLIT_WAKING,    /* samples of wake-ups */
};

#define SP_THREAD_SLICES 20

/* A thread's life in the recording. A tid that is used again has one for each thread. */
struct sp_thread {
	uint32_t pid, tid;
	const char *comm;            /* last name */
	uint64_t begin_ns, end_ns;   /* in the recording's clock */
	struct sp_thread_times times; /* their sum is end_ns - begin_ns, less what --time leaves out */
	uint64_t waits, longest_wait_ns; /* blocked intervals */
	uint64_t preemptions;        /* switches to another thread when this one could run */
	uint64_t migrations;         /* switches to another CPU; 0 if CPUs are not recorded */
	enum sp_thread_split split;
	bool born, ended;            /* began, ended during the recording */
	struct sp_thread_times slices[SP_THREAD_SLICES]; /* equal parts of the recording */
	bool counted;                /* running_ns is the kernel's count: it includes switches */
};

struct sp_threads;

/*
 * Reads the records of context switches, and not the samples of other events. `filter` selects threads by
 * comms, pids, tids and times; its other members must be empty. NULL: all threads. The reader is used, as
 * by sp_analysis_run(), and is needed no more afterwards.
 */
SP_API struct sp_error *sp_threads_new(struct sp_ctx *ctx, struct sp_reader *reader,
				       const struct sp_filter *filter,
				       struct sp_threads **ret) SP_MUST_CHECK;
/* NULL may be freed. */
SP_API void sp_threads_free(struct sp_threads *threads);

/* Returns whether the recording has context switches. If not, all times are unknown. */
SP_API bool sp_threads_known(const struct sp_threads *threads);

/* Begin and end of the recording, or of the filter's times; the slices divide it. */
SP_API uint64_t sp_threads_first_ns(const struct sp_threads *threads);
SP_API uint64_t sp_threads_last_ns(const struct sp_threads *threads);

/* Threads in order of time on a CPU, longest first. Valid until the threads are freed. */
SP_API size_t sp_threads_count(const struct sp_threads *threads);
SP_API const struct sp_thread *sp_threads_at(const struct sp_threads *threads, size_t index);

#ifdef __cplusplus
}
#endif
#endif
