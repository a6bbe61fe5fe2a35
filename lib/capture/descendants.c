/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes related to the target by descent: those that --descendants adds, and those that the
 * recording lacks (children of an attached process, processes that the command left running).
 *
 * A scan of /proc misses processes forked meanwhile. On whole CPUs, one scan suffices: the
 * side-band is on before it, and FORK records report what comes later. Task by task, attach.c
 * repeats the scan until it finds nothing to open.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sprof/private/command.h>
#include "base/cleanup.h"
#include "capture/recorder.h"

#define PROCESS_TREE CLEANUP(process_tree_deinit) struct process_tree

static bool is_target(const struct sp_capture *capture, uint32_t pid)
{
	for (size_t i = 0; i < capture->tasks.processes.count; i++)
		if (capture->tasks.processes.items[i].pid == pid)
			return true;
	return false;
}

static bool is_excluded(const struct sp_capture *capture, uint32_t pid)
{
	for (size_t i = 0; i < capture->tasks.refused.count; i++)
		if ((uint32_t)capture->tasks.refused.items[i].pid == pid)
			return true;
	return false;
}

/* The recorder, and a command that only limits the duration. */
static bool is_ours(const struct sp_capture *capture, uint32_t pid)
{
	return pid == (uint32_t)getpid() || pid == (uint32_t)capture->tasks.workload.pid;
}

/* Opens an event that never fires: the kernel's own check of the permission. */
static bool may_attach(uint32_t pid)
{
	const struct event_kernel *kernel = event_kernel_real();
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(attr),
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = kernel->open(kernel->arg, &attr, (int32_t)pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		kernel->close(kernel->arg, fd);
	return fd != -EACCES && fd != -EPERM;
}

static uint64_t ticks_to_ns(uint64_t ticks)
{
	return ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static struct sp_capture_process describe(const struct task_stat *stat, uint32_t parent, uint64_t ticks)
{
	struct sp_capture_process process = {
		.pid = (pid_t)stat->tid, .parent = (pid_t)parent, .cpu_ns = ticks_to_ns(ticks),
		.runs = stat->state == 'R',
	};
	memcpy(process.comm, stat->comm, sizeof(stat->comm));
	return process;
}

static bool has_ended(const struct task_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X';
}

static struct sp_error *add_descendant(struct sp_capture *capture, const struct task_stat *stat,
				       uint32_t ancestor)
{
	if (!capture->config.plan->cpu_wide && !may_attach(stat->tid)) {
		struct sp_capture_process *refused = vec_push(&capture->tasks.refused);
		if (!refused)
			return error_no_memory();
		*refused = describe(stat, ancestor, 0);
		return NULL;
	}
	struct capture_process *process = vec_push(&capture->tasks.processes);
	if (!process)
		return error_no_memory();
	*process = (struct capture_process){.pid = stat->tid, .is_descendant = true};
	return NULL;
}

struct sp_error *capture_find_descendants(struct sp_capture *capture)
{
	PROCESS_TREE tree = {0};
	if (!capture->tasks.descendants)
		return NULL;
	struct sp_error *error = process_tree_read(capture->ctx, &tree);
	for (size_t i = 0; i < tree.count && !error; i++) {
		const struct task_stat *stat = &tree.items[i];
		uint32_t ancestor = process_tree_ancestor(&tree, stat->tid, &capture->tasks.roots);
		if (ancestor && !has_ended(stat) && !is_ours(capture, stat->tid) &&
		    !is_target(capture, stat->tid) && !is_excluded(capture, stat->tid))
			error = add_descendant(capture, stat, ancestor);
	}
	return error;
}

/* At most that many processes are named in a sentence. */
#define NAMES_MAX 3

struct sp_error *capture_note_refused(struct sp_capture *capture)
{
	size_t count = capture->tasks.refused.count;
	char names[NAMES_MAX * 96 + sizeof(", and others")] = "";
	if (!count)
		return NULL;
	for (size_t i = 0, used = 0; i < count && i < NAMES_MAX; i++) {
		const struct sp_capture_process *process = &capture->tasks.refused.items[i];
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s (%d)",
					 i ? ", " : "", process->comm, (int)process->pid);
	}
	if (count > NAMES_MAX)
		strcat(names, ", and others");
	const char *object = names;
	return notes_add(&capture->out.notes, NOTE_ATTACH_REFUSED, object, count);
}

/* Processes that were given as such: of others, the user asked for no children. */
static bool has_children(const struct sp_capture *capture)
{
	return capture->config.target == CAPTURE_PROCESSES && capture->tasks.roots.count;
}

struct sp_error *capture_begin_descent(struct sp_capture *capture)
{
	if (!has_children(capture))
		return NULL;
	return process_tree_read(capture->ctx, &capture->tasks.begin_tree);
}

/* CPU time since the recording began. */
static uint64_t ticks_since(const struct sp_capture *capture, const struct task_stat *stat)
{
	const struct task_stat *before = process_tree_find(&capture->tasks.begin_tree, stat->tid);
	bool same = before && before->start_ticks == stat->start_ticks;
	uint64_t ticks = same ? before->cpu_ticks : 0;
	return stat->cpu_ticks > ticks ? stat->cpu_ticks - ticks : 0;
}

static struct sp_error *add_unrecorded(struct sp_capture *capture, const struct task_stat *stat,
				       uint32_t parent, uint64_t ticks)
{
	struct sp_capture_process *process = vec_push(&capture->tasks.unrecorded);
	if (!process)
		return error_no_memory();
	*process = describe(stat, parent, ticks);
	return NULL;
}

/* Descendants of the processes that were given, unless they are recorded themselves. */
static struct sp_error *list_children(struct sp_capture *capture)
{
	PROCESS_TREE tree = {0};
	uint64_t now_ns = capture_record_time_ns(capture);
	struct sp_error *error = process_tree_read(capture->ctx, &tree);
	for (size_t i = 0; i < tree.count && !error; i++) {
		const struct task_stat *stat = &tree.items[i];
		uint32_t pid = stat->tid;
		uint32_t ancestor = process_tree_ancestor(&tree, pid, &capture->tasks.roots);
		uint64_t ticks = ticks_since(capture, stat);
		if (task_list_has(&capture->tasks.roots, pid)) {
			capture->tasks.used_ns += ticks_to_ns(ticks);
			continue;
		}
		if (ancestor && !has_ended(stat) && !is_ours(capture, pid) &&
		    !membership_has(capture->tasks.tracker.spaces, pid, pid, now_ns))
			error = add_unrecorded(capture, stat, ancestor, ticks);
	}
	return error;
}

static bool is_listed(const struct sp_capture *capture, uint32_t pid)
{
	for (size_t i = 0; i < capture->tasks.unrecorded.count; i++)
		if ((uint32_t)capture->tasks.unrecorded.items[i].pid == pid)
			return true;
	return false;
}

/* Members, known by FORK records, whatever parent they have by now. */
static struct sp_error *list_survivors(struct sp_capture *capture)
{
	const struct u64map *live = &capture->tasks.tracker.spaces->live;
	for (size_t i = 0; i < live->capacity; i++) {
		struct task_stat stat;
		uint32_t pid = live->entries[i].value;
		if (!live->entries[i].used || is_listed(capture, pid))
			continue;
		struct sp_error *error = tasks_stat_process(capture->ctx, pid, &stat);
		if (!error && !has_ended(&stat) && stat.start_ticks >= capture->tasks.begin_ticks)
			error = add_unrecorded(capture, &stat, 0, stat.cpu_ticks);
		else if (error && sp_error_code(error) != SP_ERROR_NO_MEMORY)
			sp_error_free(take_ptr(error)); /* it has ended */
		if (error)
			return error;
	}
	return NULL;
}

static int by_pid(const void *a, const void *b)
{
	return ((const struct sp_capture_process *)a)->pid - ((const struct sp_capture_process *)b)->pid;
}

struct sp_error *capture_end_descent(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	capture->tasks.unrecorded.count = 0;
	if (has_children(capture))
		error = list_children(capture);
	else if (capture->config.target == CAPTURE_COMMAND && capture->tasks.workload.ended)
		error = list_survivors(capture);
	if (!error && capture->tasks.unrecorded.count)
		qsort(capture->tasks.unrecorded.items, capture->tasks.unrecorded.count,
		      sizeof(*capture->tasks.unrecorded.items), by_pid);
	return error;
}

size_t sp_capture_unrecorded(const struct sp_capture *capture, const struct sp_capture_process **ret)
{
	*ret = capture->tasks.unrecorded.items;
	return capture->tasks.unrecorded.count;
}
