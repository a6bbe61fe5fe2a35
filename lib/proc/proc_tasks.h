/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes and threads as /proc lists them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/ctx.h"
#include "base/vec.h"

/* Thread or process ids, ascending. A zeroed list is empty. */
struct task_list {
	VEC(uint32_t);
};

static inline void task_list_deinit(struct task_list *list)
{
	vec_deinit(list);
}

bool task_list_has(const struct task_list *list, uint32_t tid);

/*
 * Lists the threads of a process, and replaces the content of *list. Fails with SP_ERROR_NOT_FOUND
 * if there is no such process or it has ended.
 */
struct sp_error *tasks_list(const struct sp_ctx *ctx, uint32_t pid,
			    struct task_list *list) SP_MUST_CHECK;

/* Lists all processes (thread group leaders), and replaces the content of *list. */
struct sp_error *tasks_list_processes(const struct sp_ctx *ctx,
				      struct task_list *list) SP_MUST_CHECK;

/*
 * Lists the threads again, sets *fresh to those that are not in *known, and adds them to *known.
 * Repeat until fresh->count is 0, because threads may be created during the listing. Fails like
 * tasks_list().
 */
struct sp_error *tasks_relist(const struct sp_ctx *ctx, uint32_t pid, struct task_list *known,
			      struct task_list *fresh) SP_MUST_CHECK;

/* The same for processes. */
struct sp_error *tasks_relist_processes(const struct sp_ctx *ctx, struct task_list *known,
					struct task_list *fresh) SP_MUST_CHECK;

/* Contents of /proc/PID/task/TID/stat. */
struct task_stat {
	uint32_t tid, ppid;
	char comm[64];         /* up to 15 bytes; kernel threads may have longer ones */
	char state;            /* 'R', 'S', 'Z', … */
	int32_t last_cpu;      /* CPU of its last run; -1: unknown */
	uint64_t flags;        /* PF_*: 0x200000 is a kernel thread */
	uint64_t start_ticks;  /* start time since boot; with the tid it identifies a task */
	uint64_t cpu_ticks;    /* CPU time used, in user space and in the kernel */
};

#define TASK_STAT_KTHREAD 0x200000u

/* Returns whether the task has ended: a process's main thread stays in /proc as long as others live. */
static inline bool task_stat_is_ended(const struct task_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X';
}

/* Reads a thread's stat file. Fails with SP_ERROR_NOT_FOUND if the thread has ended. */
struct sp_error *tasks_stat(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
			    struct task_stat *ret) SP_MUST_CHECK;

/* Reads a process's stat file: `cpu_ticks` is the sum of all its threads. */
struct sp_error *tasks_stat_process(const struct sp_ctx *ctx, uint32_t pid,
				    struct task_stat *ret) SP_MUST_CHECK;

/*
 * Reads the stat files of many threads of one process, except of threads that have ended.
 * *stats_ret (the caller frees it) has *count_ret entries in the list's order.
 */
struct sp_error *tasks_stat_all(const struct sp_ctx *ctx, uint32_t pid,
				const struct task_list *list, struct task_stat **stats_ret,
				size_t *count_ret) SP_MUST_CHECK;

/* Finds the process of a thread. Fails with SP_ERROR_NOT_FOUND if the thread has ended. */
struct sp_error *tasks_process_of(const struct sp_ctx *ctx, uint32_t tid,
				  uint32_t *pid_ret) SP_MUST_CHECK;

/* Sets *uid_ret to the real user id of a process; false if the process has ended. */
bool tasks_owner(const struct sp_ctx *ctx, uint32_t pid, uint32_t *uid_ret);

/* Returns a task's id in its innermost pid namespace; `tid` if that is unknown. */
uint32_t tasks_inner_id(const struct sp_ctx *ctx, uint32_t tid);

/*
 * Returns whether a process has another root directory or mount namespace than sprof (a container):
 * its paths then name other files. False also if the process has ended or permission is missing.
 */
bool tasks_has_other_root(const struct sp_ctx *ctx, uint32_t pid);

/* Parses the text of a stat file. Fails with SP_ERROR_FORMAT. */
struct sp_error *task_stat_parse(const void *text, size_t size, const char *path,
				 struct task_stat *ret) SP_MUST_CHECK;
