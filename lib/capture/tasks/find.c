/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/find.h"

#include <unistd.h>
#include "base/cleanup.h"
#include "capture/tasks/descendants.h"

static struct sp_error *find_user(struct recorded_tasks *tasks, uid_t uid)
{
	CLEANUP(task_list_deinit) struct task_list running = {0};
	struct sp_error *error = tasks_list_processes(tasks->parts.ctx, &running);
	for (size_t i = 0; i < running.count && !error; i++) {
		uint32_t pid = running.items[i], owner;
		if (pid == (uint32_t)getpid() || !tasks_owner(tasks->parts.ctx, pid, &owner) || owner != uid)
			continue;
		error = tasks_add_process(tasks, pid, true);
	}
	if (error || tasks->processes.count)
		return error;
	error = error_new(SP_ERROR_NOT_FOUND, "user %u has no processes", uid);
	return error_set_remedy(error, "`ps -eo uid,pid,comm` lists processes by user");
}

static struct sp_error *add_id(struct task_list *list, uint32_t id)
{
	NEED(vec_append(list, id));
	return NULL;
}

static struct sp_error *find_thread(struct recorded_tasks *tasks, uint32_t tid)
{
	uint32_t pid;
	TRY(add_id(&tasks->wanted_threads, tid));
	struct sp_error *error = tasks_process_of(tasks->parts.ctx, tid, &pid);
	if (!error)
		return tasks_add_process(tasks, pid, false);
	if (sp_error_code(error) != SP_ERROR_NOT_FOUND)
		return error;
	sp_error_free(error);
	return error_new(SP_ERROR_NOT_FOUND, "thread %u does not exist", tid);
}

struct sp_error *tasks_find(struct recorded_tasks *tasks, const struct sp_capture_target *target)
{
	TRY(target->by_user ? find_user(tasks, target->uid) : NULL);
	vec_each (item, &target->pids) {
		uint32_t pid = (uint32_t)*item;
		/* It may be the number of any thread, as in perf. Errors are found later. */
		sp_error_free(tasks_process_of(tasks->parts.ctx, pid, &pid));
		TRY(add_id(&tasks->roots, pid));
		TRY(tasks_add_process(tasks, pid, false));
	}
	if (tasks->roots.count)
		tasks->roots.count = u32_sort_unique(tasks->roots.items, tasks->roots.count);
	struct task_list *wanted = &tasks->wanted_threads;
	vec_each (tid, &target->tids)
		TRY(find_thread(tasks, (uint32_t)*tid));
	vec_sort(wanted, u32_compare);
	return NULL;
}

static struct sp_error *list_threads(struct recorded_tasks *tasks, struct recorded_process *process)
{
	struct sp_error *error = tasks_list(tasks->parts.ctx, process->pid, &process->threads);
	if (!error || sp_error_code(error) != SP_ERROR_NOT_FOUND)
		return error;
	sp_error_free(error);
	if (process->may_end)
		return NULL; /* it has ended since it was found */
	return error_new(SP_ERROR_NOT_FOUND, "process %u does not exist", process->pid);
}

struct sp_error *tasks_follow_wanted(struct recorded_tasks *tasks, uint32_t pid, uint32_t tid)
{
	return tasks_wants_thread(tasks, tid) ? tasks_follow(tasks, pid, tid, 0) : NULL;
}

/* Its EXIT record came before the recording. */
static void unfollow(struct recorded_tasks *tasks, uint32_t tid)
{
	membership_exit(&tasks->membership, tid);
	if (tasks->tracker.spaces == &tasks->spaces)
		membership_exit(&tasks->spaces, tid);
}

struct sp_error *tasks_read_stats(struct recorded_tasks *tasks)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < tasks->processes.count && !error; i++) {
		struct recorded_process *process = &tasks->processes.items[i];
		error = tasks_stat_all(tasks->parts.ctx, process->pid, &process->threads, &process->stats,
				       &process->stat_count);
		if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND)
			sp_error_free(take_ptr(error)); /* it has ended */
		for (size_t j = 0; j < process->stat_count; j++)
			if (task_stat_is_ended(&process->stats[j]))
				unfollow(tasks, process->stats[j].tid);
	}
	return error;
}

struct sp_error *tasks_find_threads(struct recorded_tasks *tasks)
{
	struct sp_error *error = tasks_find_descendants(tasks);
	for (size_t i = 0; i < tasks->processes.count && !error; i++) {
		struct recorded_process *process = &tasks->processes.items[i];
		error = list_threads(tasks, process);
		for (size_t j = 0; j < process->threads.count && !error; j++)
			error = tasks_follow_wanted(tasks, process->pid, process->threads.items[j]);
	}
	return error;
}
