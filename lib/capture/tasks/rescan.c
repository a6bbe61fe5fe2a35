/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/rescan.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"

/* Limit of generations between a new process and its recorded ancestor. */
#define DEPTH_MAX 64

#define ENDED_INTERVAL_NS 1000000000

/* The command's age, divided by the interval between two descriptions of it. */
#define COMMAND_INTERVALS 16

void tasks_request_rescan(struct recorded_tasks *tasks, bool at_once)
{
	tasks->rescan.is_requested = true;
	tasks->rescan.is_cpu_back |= at_once;
	tasks->rescan.is_command_requested |= !at_once;
	if (at_once)
		tasks->rescan.time_ns = 0;
}

/*
 * Follows the command if the record of its exec was lost. The recorder forked it, so it has no
 * recorded ancestor.
 */
static bool is_command_unseen(const struct recorded_tasks *tasks)
{
	return tasks->tracker.command_pid && !tasks->tracker.command_started &&
	       tasks->workload.executed;
}

bool tasks_start_rescan(struct recorded_tasks *tasks, uint64_t monotonic_ns, bool last)
{
	struct rescan_state *rescan = &tasks->rescan;
	if (tasks->tracker.counts.lost == rescan->lost && !rescan->is_requested)
		return false;
	bool is_early = rescan->time_ns && monotonic_ns - rescan->time_ns < RESCAN_INTERVAL_NS;
	if (is_early && !last && !is_command_unseen(tasks))
		return false;
	rescan->time_ns = rescan->command_ns = monotonic_ns;
	rescan->command_lost = tasks->tracker.counts.lost;
	rescan->is_requested = rescan->is_command_requested = false;
	return true;
}

static bool has_ended(uint32_t pid, uint32_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) && errno == ESRCH;
}

static struct sp_error *remove_ended(struct membership *membership)
{
	CLEANUP(task_list_deinit) struct task_list ended = {0};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < membership->live.capacity && !error; i++) {
		const struct u64map_entry *entry = &membership->live.entries[i];
		if (!entry->used || !has_ended(entry->value, entry->key))
			continue;
		uint32_t *slot = vec_push(&ended);
		if (slot)
			*slot = entry->key;
		else
			error = error_no_memory();
	}
	vec_each (item, &ended)
		membership_exit(membership, *item);
	return error;
}

/*
 * Returns the parent of a process that started during the recording; 0: it started before, or has
 * ended.
 */
static uint32_t parent_of_new(const struct recorded_tasks *tasks, uint32_t pid)
{
	struct task_stat stat;
	struct sp_error *error = tasks_stat(tasks->parts.ctx, pid, pid, &stat);
	if (!error)
		return stat.start_ticks >= tasks->begin_ticks ? stat.ppid : 0;
	sp_error_free(error);
	return 0;
}

/* Children that started before are not followed, because without a loss they would not be either. */
static bool descends(const struct recorded_tasks *tasks, uint32_t pid, uint64_t now_ns)
{
	for (int depth = 0; depth < DEPTH_MAX && pid > 1; depth++) {
		if (membership_has(&tasks->membership, pid, pid, now_ns))
			return true;
		pid = parent_of_new(tasks, pid);
	}
	return false;
}

static struct sp_error *follow_threads(struct recorded_tasks *tasks, uint32_t pid, uint64_t from_ns)
{
	CLEANUP(task_list_deinit) struct task_list threads = {0};
	struct sp_error *error = tasks_list(tasks->parts.ctx, pid, &threads);
	/* The mount option hidepid=1 hides it; events that may not be opened are no such case. */
	if (error && sp_error_code(error) == SP_ERROR_PERMISSION) {
		sp_error_free(error);
		return NULL;
	}
	TRY(error);
	vec_each (thread, &threads)
		TRY(tasks_follow(tasks, pid, *thread, from_ns));
	return synth_process_again(tasks->synth, pid, &threads);
}

static struct sp_error *follow_process(struct recorded_tasks *tasks, uint32_t pid, uint64_t from_ns)
{
	struct sp_error *error = follow_threads(tasks, pid, from_ns);
	if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND)
		sp_error_free(take_ptr(error)); /* it has ended meanwhile */
	return error;
}

struct sp_error *tasks_rescan_command(struct recorded_tasks *tasks, uint64_t monotonic_ns,
				      uint64_t begin_ns, uint64_t from_ns)
{
	struct rescan_state *rescan = &tasks->rescan;
	uint64_t lost = tasks->tracker.counts.lost;
	if (lost == rescan->command_lost && !rescan->is_command_requested)
		return NULL;
	if ((monotonic_ns - rescan->command_ns) * COMMAND_INTERVALS < monotonic_ns - begin_ns)
		return NULL;
	/* A reaped command's pid may be another process's. */
	if (!tasks->tracker.command_started || !tasks->workload.pid)
		return NULL;
	rescan->command_lost = lost;
	rescan->command_ns = monotonic_ns;
	rescan->is_command_requested = false;
	/* Its other threads share the mappings; reading thousands of names would take long. */
	uint32_t pid = tasks->tracker.command_pid;
	CLEANUP(task_list_deinit) struct task_list leader = {0};
	NEED(vec_append(&leader, pid));
	synth_set_time(tasks->synth, from_ns);
	struct sp_error *error = synth_process_again(tasks->synth, pid, &leader);
	synth_set_time(tasks->synth, 0);
	return error;
}

struct sp_error *tasks_rescan(struct recorded_tasks *tasks, uint64_t from_ns, uint64_t now_ns,
			      struct task_list *running_ret)
{
	bool system_wide = tasks->parts.config->target == CAPTURE_SYSTEM_WIDE;
	bool first = !tasks->rescan.lost;
	bool as_read = tasks->rescan.is_cpu_back && tasks->rescan.lost == tasks->tracker.counts.lost;
	tasks->rescan.lost = tasks->tracker.counts.lost;
	tasks->rescan.is_cpu_back = false;
	if (is_command_unseen(tasks)) {
		uint32_t pid = tasks->tracker.command_pid;
		tasks->tracker.command_started = true;
		TRY(tasks_follow(tasks, pid, pid, from_ns));
	}
	TRY(remove_ended(&tasks->membership));
	TRY(remove_ended(&tasks->threads));
	struct sp_error *error = tasks_list_processes(tasks->parts.ctx, running_ret);
	synth_set_limit(tasks->synth, system_wide ? tasks->mappings_max : SIZE_MAX);
	for (size_t i = 0; i < running_ret->count && !error; i++) {
		uint32_t pid = running_ret->items[i];
		uint64_t begin_ns = as_read ? tasks_now_ns(tasks) : from_ns, since_ns, until_ns;
		/* After its FORK, if only the record of its exec is lost. */
		if (membership_find(&tasks->membership, pid, pid, now_ns, &since_ns, &until_ns) &&
		    since_ns > begin_ns)
			begin_ns = since_ns;
		synth_set_time(tasks->synth, begin_ns);
		if (system_wide || descends(tasks, pid, now_ns))
			error = follow_process(tasks, pid, from_ns);
	}
	synth_set_time(tasks->synth, 0);
	synth_set_limit(tasks->synth, SIZE_MAX);
	if (error || !first || !tasks->rescan.lost)
		return error;
	return notes_add(tasks->parts.notes, NOTE_REREAD, NULL);
}

struct sp_error *tasks_look_for_ended(struct recorded_tasks *tasks, uint64_t monotonic_ns)
{
	struct rescan_state *rescan = &tasks->rescan;
	if (!rescan->lost || monotonic_ns - rescan->ended_ns < ENDED_INTERVAL_NS)
		return NULL;
	rescan->ended_ns = monotonic_ns;
	return remove_ended(&tasks->membership);
}
