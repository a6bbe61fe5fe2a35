/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes and threads as /proc lists them. */
#ifndef PROC_TASKS_H
#define PROC_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/ctx.h"
#include "base/vec.h"

/* Numbers of tasks, ascending. Zeroed: empty. */
struct task_list {
	VEC(uint32_t);
};

bool task_list_has(const struct task_list *list, uint32_t tid);

/*
 * The threads of a process, in place of what *list held. Fails with
 * SP_ERROR_NOT_FOUND where there is no such process (any more).
 */
struct sp_error *tasks_list(const struct sp_ctx *ctx, uint32_t pid,
			    struct task_list *list) SP_MUST_CHECK;

/* All processes (thread group leaders), in place of what *list held. */
struct sp_error *tasks_list_processes(const struct sp_ctx *ctx,
				      struct task_list *list) SP_MUST_CHECK;

/*
 * Lists the threads again: those that *known lacks are put into *fresh (in place
 * of what it held) and into *known. Repeat until fresh->count is 0: then one whole
 * listing has shown nothing new. Fails as tasks_list().
 */
struct sp_error *tasks_relist(const struct sp_ctx *ctx, uint32_t pid, struct task_list *known,
			      struct task_list *fresh) SP_MUST_CHECK;

/* Contents of /proc/PID/task/TID/stat. */
struct task_stat {
	uint32_t tid, ppid;
	char comm[64];         /* the kernel's are up to 15 bytes, of its own threads longer */
	char state;            /* 'R', 'S', 'Z', … */
	int32_t last_cpu;      /* CPU of its last run; -1: unknown */
	uint64_t flags;        /* PF_*: 0x200000 is a kernel thread */
	uint64_t start_ticks;  /* since boot: with the tid, a task's identity */
	uint64_t cpu_ticks;    /* CPU time used, in user space and in the kernel */
};

#define TASK_STAT_KTHREAD 0x200000u

/* Fails with SP_ERROR_NOT_FOUND where the task is gone. */
struct sp_error *tasks_stat(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
			    struct task_stat *ret) SP_MUST_CHECK;

/* The same of a whole process: `cpu_ticks` include all of its threads. */
struct sp_error *tasks_stat_process(const struct sp_ctx *ctx, uint32_t pid,
				    struct task_stat *ret) SP_MUST_CHECK;

/*
 * The same for many threads of one process; those that are gone are left out.
 * *stats_ret (the caller's to free) has *count_ret entries in the list's order.
 */
struct sp_error *tasks_stat_all(const struct sp_ctx *ctx, uint32_t pid,
				const struct task_list *list, struct task_stat **stats_ret,
				size_t *count_ret) SP_MUST_CHECK;

/* The process that a thread belongs to. Fails with SP_ERROR_NOT_FOUND where it is gone. */
struct sp_error *tasks_process_of(const struct sp_ctx *ctx, uint32_t tid,
				  uint32_t *pid_ret) SP_MUST_CHECK;

/* The (real) user of a process; false where it is gone. */
bool tasks_owner(const struct sp_ctx *ctx, uint32_t pid, uint32_t *uid_ret);

/*
 * Whether a process has another root directory or mount namespace, so that its paths name other files
 * than here. False if it has ended, or permission is missing.
 */
bool tasks_has_other_root(const struct sp_ctx *ctx, uint32_t pid);

/* The text of a stat file. Fails with SP_ERROR_FORMAT. */
struct sp_error *task_stat_parse(const void *text, size_t size, const char *path,
				 struct task_stat *ret) SP_MUST_CHECK;

#endif
