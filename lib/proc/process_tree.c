/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc/process_tree.h"

#include "base/cleanup.h"

void process_tree_deinit(struct process_tree *tree)
{
	vec_deinit(tree);
}

static struct sp_error *add_process(const struct sp_ctx *ctx, struct process_tree *tree, uint32_t pid)
{
	struct task_stat stat;
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = tasks_stat_process(ctx, pid, &stat);
	if (error) /* the process has ended, or is hidden (mount option hidepid) */
		return sp_error_code(error) == SP_ERROR_NO_MEMORY ? take_ptr(error) : NULL;
	struct task_stat *slot = vec_push(tree);
	NEED(slot);
	*slot = stat;
	return NULL;
}

struct sp_error *process_tree_read(const struct sp_ctx *ctx, struct process_tree *tree)
{
	struct task_list pids = {0};
	struct sp_error *error = tasks_list_processes(ctx, &pids);
	tree->count = 0;
	for (size_t i = 0; i < pids.count && !error; i++)
		error = add_process(ctx, tree, pids.items[i]);
	vec_deinit(&pids);
	return error;
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
