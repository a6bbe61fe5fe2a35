/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes with their parents and CPU time, read in one pass over /proc. */
#pragma once

#include "proc/proc_tasks.h"

/* Processes, ascending by pid (task_stat.tid). A zeroed tree is empty. */
struct process_tree {
	VEC(struct task_stat);
};

void process_tree_deinit(struct process_tree *tree);

/*
 * Reads only the processes in `roots` and their descendants, by /proc/PID/task/TID/children. Reads
 * all processes where the kernel lacks these files, for many threads, and if a thread ends
 * meanwhile.
 */
struct sp_error *process_tree_read_below(const struct sp_ctx *ctx, const struct task_list *roots,
					 struct process_tree *tree) SP_MUST_CHECK;

/* The entry of a process, or NULL; valid until the tree is read again. */
const struct task_stat *process_tree_find(const struct process_tree *tree, uint32_t pid);

/*
 * Returns the nearest ancestor of `pid` that is in `ancestors` (ascending); 0: none. A process is
 * not its own ancestor. The search stops at loops, which occur if processes change while /proc is
 * read.
 */
uint32_t process_tree_ancestor(const struct process_tree *tree, uint32_t pid,
			       const struct task_list *ancestors);
