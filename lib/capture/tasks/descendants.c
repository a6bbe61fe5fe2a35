/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/descendants.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include "base/cleanup.h"
#include "base/clock.h"

#define PROCESS_TREE CLEANUP(process_tree_deinit) struct process_tree

static bool is_listed(const struct related_processes *list, uint32_t pid)
{
	vec_each (item, list)
		if ((uint32_t)item->pid == pid)
			return true;
	return false;
}

/* Asks the kernel for the permission: opens an event that never fires. */
static bool may_attach(const struct event_kernel *kernel, uint32_t pid)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(attr),
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = kernel->open(kernel->arg, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		kernel->close(kernel->arg, fd);
	return fd != -EACCES && fd != -EPERM;
}

static uint64_t ticks_to_ns(uint64_t ticks)
{
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static struct sp_error *add_related(struct related_processes *list, const struct task_stat *stat,
				    uint32_t parent, uint64_t ticks)
{
	struct sp_capture_process *process = vec_push(list);
	NEED(process);
	*process = (struct sp_capture_process){
		.pid = stat->tid,
		.parent = parent,
		.cpu_ns = ticks_to_ns(ticks),
		.runs = stat->state == 'R',
	};
	memcpy(process->comm, stat->comm, sizeof(stat->comm));
	return NULL;
}

static struct sp_error *add_descendant(struct recorded_tasks *tasks, const struct task_stat *stat,
				       uint32_t ancestor)
{
	const struct tasks_parts *parts = &tasks->parts;
	if (!parts->config->plan->cpu_wide && !may_attach(parts->kernel, stat->tid))
		return add_related(&tasks->refused, stat, ancestor, 0);
	return tasks_add_process(tasks, stat->tid, true);
}

/*
 * Returns the next living descendant of the roots, from *index on, and its nearest recorded
 * ancestor. Skips the recorder, and a command that only limits the duration. NULL: there are no
 * more.
 */
static const struct task_stat *next_descendant(const struct recorded_tasks *tasks,
					       const struct process_tree *tree, size_t *index,
					       uint32_t *ancestor_ret)
{
	while (*index < tree->count) {
		const struct task_stat *stat = &tree->items[(*index)++];
		*ancestor_ret = process_tree_ancestor(tree, stat->tid, &tasks->roots);
		if (*ancestor_ret && !task_list_has(&tasks->roots, stat->tid) &&
		    !task_stat_is_ended(stat) && stat->tid != (uint32_t)getpid() &&
		    stat->tid != (uint32_t)tasks->workload.pid)
			return stat;
	}
	return NULL;
}

struct sp_error *tasks_find_descendants(struct recorded_tasks *tasks)
{
	PROCESS_TREE tree = {0};
	const struct task_stat *stat;
	uint32_t ancestor;
	if (!tasks->descendants)
		return NULL;
	TRY(process_tree_read_below(tasks->parts.ctx, &tasks->roots, &tree));
	for (size_t i = 0; (stat = next_descendant(tasks, &tree, &i, &ancestor));)
		if (!tasks_process(tasks, stat->tid) && !is_listed(&tasks->refused, stat->tid))
			TRY(add_descendant(tasks, stat, ancestor));
	return NULL;
}

/* Limit of names in a note. */
#define NAMES_MAX 3

struct sp_error *tasks_note_refused(struct recorded_tasks *tasks)
{
	size_t count = tasks->refused.count;
	char names[NAMES_MAX * 96 + sizeof(", and others")] = "";
	if (!count)
		return NULL;
	for (size_t i = 0, used = 0; i < count && i < NAMES_MAX; i++) {
		const struct sp_capture_process *process = &tasks->refused.items[i];
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s (%d)",
					 i ? ", " : "", process->comm, process->pid);
	}
	if (count > NAMES_MAX)
		strcat(names, ", and others");
	const char *object = names;
	return notes_add(tasks->parts.notes, NOTE_ATTACH_REFUSED, object, count);
}

/* Returns whether the target is processes by pid. For other targets, children are not listed. */
static bool is_given_by_pid(const struct recorded_tasks *tasks)
{
	return tasks->parts.config->target == CAPTURE_PROCESSES && tasks->roots.count;
}

struct sp_error *tasks_begin_descent(struct recorded_tasks *tasks)
{
	if (!is_given_by_pid(tasks))
		return NULL;
	tasks->begin_ns = clock_ns(CLOCK_MONOTONIC);
	return process_tree_read_below(tasks->parts.ctx, &tasks->roots, &tasks->begin_tree);
}

/* Returns the CPU time since the recording began. */
static uint64_t ticks_since(const struct process_tree *begin, const struct task_stat *stat)
{
	const struct task_stat *before = process_tree_find(begin, stat->tid);
	bool same = before && before->start_ticks == stat->start_ticks;
	uint64_t ticks = same ? before->cpu_ticks : 0;
	return stat->cpu_ticks > ticks ? stat->cpu_ticks - ticks : 0;
}

/* Lists descendants of the roots that are not recorded, and adds up the CPU time of the roots. */
static struct sp_error *list_unrecorded(struct recorded_tasks *tasks)
{
	PROCESS_TREE tree = {0};
	const struct task_stat *stat;
	uint32_t ancestor;
	uint64_t now_ns = tasks_now_ns(tasks);
	TRY(process_tree_read_below(tasks->parts.ctx, &tasks->roots, &tree));
	tasks->during_ns = clock_ns(CLOCK_MONOTONIC) - tasks->begin_ns;
	vec_each (root, &tasks->roots)
		if ((stat = process_tree_find(&tree, *root)))
			tasks->used_ns += ticks_to_ns(ticks_since(&tasks->begin_tree, stat));
	for (size_t i = 0; (stat = next_descendant(tasks, &tree, &i, &ancestor));)
		if (!membership_has(tasks->tracker.spaces, stat->tid, stat->tid, now_ns))
			TRY(add_related(&tasks->unrecorded, stat, ancestor,
					ticks_since(&tasks->begin_tree, stat)));
	return NULL;
}

/* Lists a process, unless it has ended or its pid is an older process's. */
static struct sp_error *list_survivor(struct recorded_tasks *tasks, uint32_t pid)
{
	struct task_stat stat;
	struct sp_error *error = tasks_stat_process(tasks->parts.ctx, pid, &stat);
	if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	if (error) {
		sp_error_free(error); /* it has ended */
		return NULL;
	}
	if (task_stat_is_ended(&stat) || stat.start_ticks < tasks->begin_ticks)
		return NULL;
	return add_related(&tasks->unrecorded, &stat, 0, stat.cpu_ticks);
}

/*
 * Lists members that still run. FORK records made them members, so their parent today does not
 * matter.
 */
static struct sp_error *list_survivors(struct recorded_tasks *tasks)
{
	const struct u64map *live = &tasks->tracker.spaces->live;
	for (size_t i = 0; i < live->capacity; i++) {
		uint32_t pid = live->entries[i].value;
		if (!live->entries[i].used || is_listed(&tasks->unrecorded, pid))
			continue;
		TRY(list_survivor(tasks, pid));
	}
	return NULL;
}

static int by_pid(const void *a, const void *b)
{
	return ((const struct sp_capture_process *)a)->pid - ((const struct sp_capture_process *)b)->pid;
}

struct sp_error *tasks_end_descent(struct recorded_tasks *tasks)
{
	struct related_processes *unrecorded = &tasks->unrecorded;
	struct sp_error *error = NULL;
	unrecorded->count = 0;
	if (is_given_by_pid(tasks))
		error = list_unrecorded(tasks);
	else if (tasks->parts.config->target == CAPTURE_COMMAND && tasks->workload.ended)
		error = list_survivors(tasks);
	if (!error)
		vec_sort(unrecorded, by_pid);
	return error;
}
