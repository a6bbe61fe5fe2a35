/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/tasks.h"

#include <sprof/private/command.h>
#include <unistd.h>
#include "base/clock.h"

/* Returns the time since the machine's start, in the unit of /proc/PID/stat. */
static uint64_t now_ticks(void)
{
	return clock_ns(CLOCK_BOOTTIME) / (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

void tasks_init(struct recorded_tasks *tasks, const struct tasks_parts *parts)
{
	*tasks = (struct recorded_tasks){.parts = *parts, .begin_ticks = now_ticks(),
					 .mappings_max = TASKS_MAPPINGS_MAX};
	workload_init(&tasks->workload);
}

void tasks_deinit(struct recorded_tasks *tasks)
{
	workload_deinit(&tasks->workload);
	vec_each (process, &tasks->processes) {
		vec_deinit(&process->threads);
		vec_deinit(&process->later);
		free(process->stats);
	}
	vec_deinit(&tasks->processes);
	vec_deinit(&tasks->wanted_threads);
	vec_deinit(&tasks->roots);
	vec_deinit(&tasks->refused);
	vec_deinit(&tasks->unrecorded);
	process_tree_deinit(&tasks->begin_tree);
	membership_deinit(&tasks->membership);
	membership_deinit(&tasks->spaces);
	membership_deinit(&tasks->threads);
	double_sampling_deinit(&tasks->double_sampling);
	command_ring_close(&tasks->tracker.own, tasks->parts.kernel);
	tracker_deinit(&tasks->tracker);
	moved_code_deinit(&tasks->moved);
	synth_free(tasks->synth);
}

const struct recorded_process *tasks_process(const struct recorded_tasks *tasks, uint32_t pid)
{
	vec_each (process, &tasks->processes)
		if (process->pid == pid)
			return process;
	return NULL;
}

struct sp_error *tasks_add_process(struct recorded_tasks *tasks, uint32_t pid, bool may_end)
{
	if (tasks_process(tasks, pid))
		return NULL;
	NEED(vec_append(&tasks->processes,
			(struct recorded_process){.pid = pid, .may_end = may_end}));
	return NULL;
}

static void set_up(struct membership *membership, enum membership_by by, const struct capture_config *config)
{
	membership->by = by;
	membership->follow = config->inherit;
	membership->threads_only = config->threads_only;
}

void tasks_connect(struct recorded_tasks *tasks)
{
	const struct capture_config *config = tasks->parts.config;
	struct tracker *tracker = &tasks->tracker;
	/* Without inheritance, even a process's new thread is not recorded. */
	bool by_thread = config->target == CAPTURE_THREADS || !config->inherit;
	set_up(&tasks->membership, by_thread ? MEMBERSHIP_BY_THREAD : MEMBERSHIP_BY_PROCESS, config);
	set_up(&tasks->spaces, MEMBERSHIP_BY_PROCESS, config);
	set_up(&tasks->threads, MEMBERSHIP_BY_THREAD, config);
	tracker->rewrite = tasks->parts.rewrite;
	tracker->double_sampling = &tasks->double_sampling;
	if (config->target == CAPTURE_SYSTEM_WIDE)
		return;
	tracker->membership = &tasks->membership;
	tracker->spaces = by_thread ? &tasks->spaces : &tasks->membership;
	if (config->off_cpu.wakeups.on && !by_thread)
		tracker->threads = &tasks->threads;
	if (config->target == CAPTURE_COMMAND)
		tracker->command_pid = tasks->workload.pid;
	/* Events of tasks have requested tasks only. */
	tracker->saves_all = !config->plan->cpu_wide;
}

bool tasks_wants_thread(const struct recorded_tasks *tasks, uint32_t tid)
{
	return tasks->parts.config->target != CAPTURE_THREADS ||
	       task_list_has(&tasks->wanted_threads, tid);
}

const struct membership *tasks_threads(const struct recorded_tasks *tasks)
{
	return tasks->tracker.threads ?: &tasks->membership;
}

struct sp_error *tasks_follow(struct recorded_tasks *tasks, uint32_t pid, uint32_t tid,
			      uint64_t from_ns)
{
	NEED(membership_add(&tasks->membership, pid, tid, from_ns));
	if (tasks->tracker.spaces == &tasks->spaces &&
	    !membership_add(&tasks->spaces, pid, tid, from_ns))
		return error_no_memory();
	if (tasks->tracker.threads && !membership_add(&tasks->threads, pid, tid, from_ns))
		return error_no_memory();
	return NULL;
}

struct sp_error *tasks_drain(struct recorded_tasks *tasks, struct ring *rings)
{
	return tracker_drain(&tasks->tracker, rings, tasks->parts.config->cpus.count);
}

uint64_t tasks_now_ns(const struct recorded_tasks *tasks)
{
	clockid_t clock_id = tasks->parts.config->plan->clock_id;
	if (clock_id == EVENT_CLOCK_KERNEL)
		return tasks->tracker.last_ns;
	return clock_ns(clock_id) + tasks->parts.rewrite->shift_ns;
}

bool tasks_is_over(const struct recorded_tasks *tasks)
{
	return tasks->workload.ended ||
	       (tasks->processes.count && !tasks->membership.live.count);
}

void tasks_expire(struct recorded_tasks *tasks, uint64_t before_ns)
{
	membership_expire(&tasks->membership, before_ns);
	membership_expire(&tasks->spaces, before_ns);
	membership_expire(&tasks->threads, before_ns);
}
