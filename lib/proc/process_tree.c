/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc/process_tree.h"

#include <stdlib.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

/*
 * Number of threads above which all processes are read: a process costs about as much as a thread.
 */
#define THREADS_MAX 64

void process_tree_deinit(struct process_tree *tree)
{
	vec_deinit(tree);
}

static struct sp_error *add_process(const struct sp_ctx *ctx, struct process_tree *tree,
				    uint32_t pid)
{
	struct task_stat stat;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = tasks_stat_process(ctx, pid, &stat);
	if (error) /* the process has ended, or is hidden (mount option hidepid) */
		return sp_error_code(error) == SP_ERROR_NO_MEMORY ? take_ptr(error) : NULL;
	NEED(vec_append(tree, stat));
	return NULL;
}

/* Replaces the tree's content. Processes that end meanwhile are omitted. */
static struct sp_error *process_tree_read(const struct sp_ctx *ctx, struct process_tree *tree)
{
	struct task_list pids = {0};
	struct sp_error *error = tasks_list_processes(ctx, &pids);
	tree->count = 0;
	for (size_t i = 0; i < pids.count && !error; i++)
		error = add_process(ctx, tree, pids.items[i]);
	vec_deinit(&pids);
	return error;
}

/* Appends the children of a thread, which are not in the list yet; false if they are not known. */
static bool add_children(const struct sp_ctx *ctx, uint32_t pid, uint32_t tid,
			 struct task_list *pids)
{
	CLEANUP_FREE char *path = format_text("/proc/%u/task/%u/children", pid, tid);
	CLEANUP_FREE char *text = NULL;
	size_t size;
	if (!path || sysfs_read(ctx, path, &text, &size))
		return false;
	struct cursor cursor = cursor_make(text, size, false, NULL, 0);
	uint32_t child;
	for (; text_decimal_u32(&cursor, &child); text_blanks(&cursor))
		if (!vec_append(pids, child))
			return false;
	return true;
}

DEFINE_ORDER(compare_stat, struct task_stat, tid)

struct sp_error *process_tree_read_below(const struct sp_ctx *ctx, const struct task_list *roots,
					 struct process_tree *tree)
{
	CLEANUP(task_list_deinit) struct task_list pids = {0};
	CLEANUP(task_list_deinit) struct task_list threads = {0};
	size_t thread_count = 0;
	NEED(vec_reserve(&pids, roots->count));
	vec_each (root, roots)
		pids.items[pids.count++] = *root;
	tree->count = 0;
	for (size_t i = 0; i < pids.count; i++) { /* add_children() adds to them */
		uint32_t pid = pids.items[i];
		struct sp_error *error =
			add_process(ctx, tree, pid) ?: tasks_list(ctx, pid, &threads);
		if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
			return error;
		sp_error_free(error); /* it has ended */
		thread_count += threads.count;
		bool known = thread_count <= THREADS_MAX;
		for (size_t t = 0; t < threads.count && known; t++)
			known = add_children(ctx, pid, threads.items[t], &pids);
		if (!known)
			return process_tree_read(ctx, tree);
		threads.count = 0;
	}
	vec_sort(tree, compare_stat);
	/* A root may be another one's child. */
	size_t kept = 0;
	vec_each (item, tree)
		if (!kept || tree->items[kept - 1].tid != item->tid)
			tree->items[kept++] = *item;
	tree->count = kept;
	return NULL;
}

static int compare_pid(const void *key, const void *item)
{
	uint32_t pid = *(const uint32_t *)key, other = ((const struct task_stat *)item)->tid;
	return pid < other ? -1 : pid > other;
}

const struct task_stat *process_tree_find(const struct process_tree *tree, uint32_t pid)
{
	return tree->count ? bsearch(&pid, tree->items, tree->count, sizeof(*tree->items), compare_pid)
			   : NULL;
}

uint32_t process_tree_ancestor(const struct process_tree *tree, uint32_t pid,
			       const struct task_list *ancestors)
{
	const struct task_stat *process = process_tree_find(tree, pid);
	for (size_t depth = 0; process && depth < tree->count; depth++) {
		if (task_list_has(ancestors, process->ppid))
			return process->ppid;
		process = process_tree_find(tree, process->ppid);
	}
	return 0;
}
