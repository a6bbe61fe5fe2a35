/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/schedstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"

/* Limit for threads; others have no notes. */
#define THREADS_MAX ((size_t)1 << 18)

void schedstat_deinit(struct schedstat *schedstat)
{
	vec_deinit(&schedstat->threads);
	u64map_deinit(&schedstat->index_of);
}

struct sp_error *schedstat_begin(struct schedstat *schedstat)
{
	const struct recorded_tasks *tasks = schedstat->tasks;
	vec_each (process, &tasks->processes) {
		vec_each (thread, &process->threads)
			if (tasks_wants_thread(tasks, *thread))
				TRY(schedstat_on_switch(schedstat, process->pid, *thread));
	}
	return NULL;
}

struct sp_error *schedstat_on_switch(struct schedstat *schedstat, uint32_t pid, uint32_t tid)
{
	/* The idle thread has no number, and a thread that ended may have lost it. */
	if (!tid || tid == UINT32_MAX ||
	    (schedstat->threads.count >= THREADS_MAX && !u64map_find(&schedstat->index_of, tid)))
		return NULL;
	struct schedstat_thread *thread =
		u64map_item(&schedstat->index_of, tid, &schedstat->threads);
	NEED(thread);
	thread->tid = tid;
	thread->pid = pid;
	thread->switched = true;
	return NULL;
}

void schedstat_remove(struct schedstat *schedstat, uint32_t tid)
{
	const uint32_t *found = u64map_find(&schedstat->index_of, tid);
	if (!found)
		return;
	const struct schedstat_thread last = *vec_last(&schedstat->threads);
	uint32_t index = *found;
	u64map_remove(&schedstat->index_of, tid);
	schedstat->threads.items[index] = last;
	schedstat->threads.count--;
	uint32_t *moved = u64map_find(&schedstat->index_of, last.tid);
	if (moved)
		*moved = index;
}

/* Threads that have ended have no file, and get no note. */
static struct sp_error *write_note(const struct schedstat *schedstat, uint32_t pid, uint32_t tid)
{
	const struct recorded_tasks *tasks = schedstat->tasks;
	unsigned long long run_ns, wait_ns, slices;
	char text[80] = "";
	CLEANUP_FREE char *path =
		format_text("%s/proc/%u/task/%u/schedstat", ctx_root(tasks->parts.ctx), pid, tid);
	NEED(path);
	uint64_t begin_ns = tasks_now_ns(tasks);
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || io_read(fd, text, sizeof(text) - 1, NULL) ||
	    sscanf(text, "%llu %llu %llu", &run_ns, &wait_ns, &slices) != 3)
		return NULL;
	const struct note_records to = {schedstat->notes, tasks_now_ns(tasks)};
	struct sp_note note = NOTE_OF(NOTE_SCHEDSTAT, NULL, pid, tid, run_ns, wait_ns, slices,
				      to.time_ns - begin_ns);
	/* Uses the time of an earlier record. */
	if (tasks->parts.config->plan->clock_id == EVENT_CLOCK_KERNEL)
		note.value_count--;
	return notes_write_once(&to, note);
}

/* Returns whether a thread is due, and sets the next time. A new thread is not due. */
static bool is_due(struct schedstat_thread *thread, uint64_t monotonic_ns)
{
	bool first = !thread->due_ns;
	if (!first && (!thread->switched || monotonic_ns < thread->due_ns))
		return false;
	uint64_t step_ns = first ? SCHEDSTAT_FIRST_NS : 2 * thread->step_ns;
	thread->step_ns = step_ns < SCHEDSTAT_LAST_NS ? step_ns : SCHEDSTAT_LAST_NS;
	thread->due_ns = monotonic_ns + thread->step_ns;
	return !first;
}

struct sp_error *schedstat_round(struct schedstat *schedstat, uint64_t monotonic_ns)
{
	if (monotonic_ns - schedstat->round_ns < SCHEDSTAT_FIRST_NS)
		return NULL;
	schedstat->round_ns = monotonic_ns;
	vec_each (thread, &schedstat->threads) {
		if (!is_due(thread, monotonic_ns))
			continue;
		thread->switched = false;
		TRY(write_note(schedstat, thread->pid, thread->tid));
	}
	return NULL;
}

struct sp_error *schedstat_note_all(struct schedstat *schedstat)
{
	vec_each (thread, &schedstat->threads)
		TRY(write_note(schedstat, thread->pid, thread->tid));
	return NULL;
}

struct sp_error *schedstat_note_command(struct schedstat *schedstat)
{
	siginfo_t ended = {.si_pid = 0};
	pid_t pid = schedstat->tasks->workload.pid;
	if (!pid || !u64map_find(&schedstat->index_of, (uint32_t)pid) ||
	    waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) < 0 || !ended.si_pid)
		return NULL;
	return write_note(schedstat, pid, pid);
}
