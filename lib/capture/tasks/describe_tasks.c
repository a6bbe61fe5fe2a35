/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/describe_tasks.h"

#include <stdlib.h>
#include "base/cleanup.h"

/* Limit of lists of all processes. Each list has the processes that began during the one before. */
#define PASSES_MAX 10

static struct sp_error *describe_kernel(struct recorded_tasks *tasks)
{
	bool hidden = false;
	struct sp_error *error = synth_kernel(tasks->synth, &hidden);
	if (error || !event_plan_samples_kernel(tasks->parts.config->plan))
		return error;
	if (hidden)
		return notes_add(tasks->parts.notes, NOTE_KERNEL_HIDDEN, NULL,
				 rights_hidden(&tasks->parts.config->rights));
	return synth_bpf(tasks->synth);
}

struct sp_error *tasks_describe_system(struct recorded_tasks *tasks, struct event_set *set)
{
	const struct tasks_parts *parts = &tasks->parts;
	const struct sp_event *events;
	size_t count;
	TRY(event_set_events(set, &events, &count));
	const struct sp_event *sideband = &events[count - 1];
	struct sp_error *error = synth_new(parts->ctx, &parts->config->plan->sideband.attr,
					   sideband->id_count ? sideband->ids[0] : 0,
					   parts->synthesised, &tasks->synth);
	if (!error)
		synth_set_new_time(tasks->synth, tasks->begin_ticks, tasks->open_ns);
	TRY(error);
	TRY(describe_kernel(tasks));
	if (event_plan_samples_user(tasks->parts.config->plan))
		TRY(synth_vdso(tasks->synth));
	return synth_cgroups(tasks->synth);
}

static struct sp_error *describe_process(struct recorded_tasks *tasks,
					 const struct recorded_process *process)
{
	bool complete = true;
	struct sp_error *error =
		process->stats ? synth_process_known(tasks->synth, process->pid, process->stats,
						     process->stat_count, &complete)
			       : synth_process(tasks->synth, process->pid, &process->threads, &complete);
	if (error || complete)
		return error;
	return notes_add(tasks->parts.notes, NOTE_PROCESS_MAPS_UNREADABLE, NULL, process->pid);
}

/*
 * Describes processes until a list has no new one: if the parent ended meanwhile, no other record
 * describes a process. `begins`: FORK records of listed processes are older than their
 * descriptions.
 */
static struct sp_error *describe_all(struct recorded_tasks *tasks, bool begins)
{
	CLEANUP(task_list_deinit) struct task_list known = {0}, fresh = {0};
	struct sp_error *error = NULL;
	size_t unreadable = 0;
	synth_set_limit(tasks->synth, tasks->mappings_max);
	for (int pass = 0; pass < PASSES_MAX && !error; pass++) {
		error = tasks_relist_processes(tasks->parts.ctx, &known, &fresh);
		if (error || !fresh.count)
			break;
		if (begins)
			synth_set_new_time(tasks->synth, tasks->begin_ticks, tasks_now_ns(tasks));
		error = synth_processes(tasks->synth, &fresh, &unreadable);
	}
	synth_set_limit(tasks->synth, SIZE_MAX);
	if (error || !unreadable)
		return error;
	return notes_add(tasks->parts.notes, NOTE_MAPS_UNREADABLE, NULL, unreadable);
}

struct sp_error *tasks_describe_processes(struct recorded_tasks *tasks)
{
	if (tasks->parts.config->target == CAPTURE_SYSTEM_WIDE)
		return describe_all(tasks, true);
	vec_each (process, &tasks->processes)
		TRY(describe_process(tasks, process));
	return NULL;
}

struct sp_error *tasks_describe_later(struct recorded_tasks *tasks)
{
	vec_each (process, &tasks->processes) {
		TRY(synth_threads(tasks->synth, process->pid, &process->later));
	}
	return NULL;
}

/* Describes the threads that a process has now. */
static struct sp_error *describe_again(struct recorded_tasks *tasks, struct recorded_process *process)
{
	free(take_ptr(process->stats));
	struct sp_error *error = tasks_list(tasks->parts.ctx, process->pid, &process->threads);
	if (!error)
		return describe_process(tasks, process);
	if (sp_error_code(error) == SP_ERROR_NOT_FOUND)
		sp_error_free(take_ptr(error)); /* it has ended */
	return error;
}

struct sp_error *tasks_describe_tail(struct recorded_tasks *tasks)
{
	struct sp_error *error = NULL;
	if (tasks->parts.config->target == CAPTURE_SYSTEM_WIDE)
		error = describe_all(tasks, false);
	for (size_t i = 0; i < tasks->processes.count && !error; i++)
		error = describe_again(tasks, &tasks->processes.items[i]);
	return error;
}
