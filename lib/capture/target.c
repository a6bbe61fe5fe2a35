/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the processes that run already. */
#include <stdlib.h>
#include <unistd.h>
#include "capture/recorder.h"

static struct sp_error *add_process(struct sp_capture *capture, uint32_t pid)
{
	for (size_t i = 0; i < capture->tasks.processes.count; i++)
		if (capture->tasks.processes.items[i].pid == pid)
			return NULL;
	struct capture_process *process = vec_push(&capture->tasks.processes);
	if (!process)
		return error_no_memory();
	*process = (struct capture_process){.pid = pid};
	return NULL;
}

/* A user's processes, except the recorder; the command, which waits, is forked later. */
static struct sp_error *find_users(struct sp_capture *capture, uid_t uid)
{
	struct task_list processes = {0};
	struct sp_error *error = tasks_list_processes(capture->ctx, &processes);
	for (size_t i = 0; i < processes.count && !error; i++) {
		uint32_t pid = processes.items[i], owner;
		bool ours = pid == (uint32_t)getpid();
		if (!ours && tasks_owner(capture->ctx, pid, &owner) && owner == uid)
			error = add_process(capture, pid);
	}
	vec_deinit(&processes);
	if (!error && !capture->tasks.processes.count)
		error = error_set_remedy(error_new(SP_ERROR_NOT_FOUND, "user %u has no processes",
						   (unsigned int)uid),
					 "`ps -eo uid,pid,comm` lists processes by user");
	return error;
}

struct sp_error *capture_find_processes(struct sp_capture *capture,
					const struct capture_options *options)
{
	struct sp_error *error = options->target.by_user ? find_users(capture, options->target.uid) : NULL;
	for (size_t i = 0; i < options->target.pids.count && !error; i++) {
		uint32_t *root = vec_push(&capture->tasks.roots);
		if (!root)
			return error_no_memory();
		*root = (uint32_t)options->target.pids.items[i];
		error = add_process(capture, *root);
	}
	if (capture->tasks.roots.count)
		capture->tasks.roots.count = u32_sort_unique(capture->tasks.roots.items,
							     capture->tasks.roots.count);
	for (size_t i = 0; i < options->target.tids.count && !error; i++) {
		uint32_t tid = (uint32_t)options->target.tids.items[i], pid;
		uint32_t *slot = vec_push(&capture->tasks.wanted_threads);
		if (!slot)
			return error_no_memory();
		*slot = tid;
		error = tasks_process_of(capture->ctx, tid, &pid);
		if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND) {
			sp_error_free(error);
			return error_new(SP_ERROR_NOT_FOUND, "thread %u does not exist", tid);
		}
		if (!error)
			error = add_process(capture, pid);
	}
	if (capture->tasks.wanted_threads.count)
		qsort(capture->tasks.wanted_threads.items, capture->tasks.wanted_threads.count,
		      sizeof(uint32_t),
		      u32_compare);
	return error;
}
