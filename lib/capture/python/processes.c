/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/processes.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include "record/task_change.h"

void python_processes_init(struct python_processes *processes)
{
	*processes = (struct python_processes){0};
	pthread_mutex_init(&processes->lock, NULL);
}

void python_processes_deinit(struct python_processes *processes)
{
	u64map_deinit(&processes->index_of);
	vec_deinit(&processes->list);
	pthread_mutex_destroy(&processes->lock);
}

bool python_is_interpreter(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t prefix = strncmp(name, "lib", 3) ? 0 : 3;
	if (strncmp(name + prefix, "python", 6))
		return false;
	/* "python" and "python3" are copies by venv; "libpython3.so" is not the interpreter. */
	const char *version = name + prefix + 6;
	return !strncmp(version, "3.", 2) ? version[2] >= '0' && version[2] <= '9'
					  : !prefix && (!*version || !strcmp(version, "3"));
}

static struct python_process *find(const struct python_processes *processes, uint32_t pid)
{
	const uint32_t *index = u64map_find(&processes->index_of, pid);
	return index ? &processes->list.items[*index] : NULL;
}

static void remove_process(struct python_processes *processes, uint32_t pid)
{
	struct python_process *process = find(processes, pid);
	if (!process)
		return;
	process->pid = 0;
	processes->unknown -= process->state == PYTHON_UNKNOWN;
	u64map_remove(&processes->index_of, pid);
	__atomic_sub_fetch(&processes->count, 1, __ATOMIC_RELAXED);
}

/* Returns a free place; NULL when out of memory. */
static struct python_process *find_free(struct python_processes *processes)
{
	vec_each (item, &processes->list)
		if (!item->pid)
			return item;
	struct python_process *process = vec_push(&processes->list);
	if (process)
		process->pid = 0;
	return process;
}

static bool put(struct python_processes *processes, const struct python_process *process)
{
	remove_process(processes, process->pid);
	struct python_process *slot = find_free(processes);
	if (!slot ||
	    !u64map_put(&processes->index_of, process->pid, slot - processes->list.items, NULL))
		return false;
	*slot = *process;
	processes->unknown += process->state == PYTHON_UNKNOWN;
	__atomic_add_fetch(&processes->count, 1, __ATOMIC_RELAXED);
	return true;
}

static bool on_mmap(struct python_processes *processes, const struct sp_record *record)
{
	const struct sp_mmap *mmap = &record->mmap;
	if (!(mmap->prot & PROT_EXEC) || !mmap->pid || !python_is_interpreter(mmap->filename))
		return true;
	const struct python_process process = {
		.pid = mmap->pid, .generation = ++processes->generations, .code_start = mmap->start,
	};
	return put(processes, &process);
}

static bool on_fork(struct python_processes *processes, const struct task_change *change)
{
	remove_process(processes, change->pid);
	const struct python_process *parent = find(processes, change->parent_pid);
	if (!parent)
		return true;
	struct python_process child = *parent;
	child.pid = change->pid;
	return put(processes, &child);
}

static void on_exit_of(struct python_processes *processes, uint32_t pid)
{
	if (!find(processes, pid))
		return;
	uint32_t *slot = &processes->ended[processes->ended_count++ % PYTHON_ENDED_MAX];
	remove_process(processes, *slot);
	*slot = pid;
}

bool python_processes_on_record(struct python_processes *processes, const struct sp_record *record)
{
	struct task_change change;
	bool good = true;
	pthread_mutex_lock(&processes->lock);
	if (record->type == PERF_RECORD_MMAP2)
		good = on_mmap(processes, record);
	else if (!task_change_of(record, &change) ||
		 (change.kind != TASK_EXECED && !change.is_process))
		good = true; /* no process begins or ends */
	else if (change.kind == TASK_EXECED)
		remove_process(processes, change.pid);
	else if (change.kind == TASK_FORKED)
		good = on_fork(processes, &change);
	else if (change.kind == TASK_ENDED)
		on_exit_of(processes, change.pid);
	pthread_mutex_unlock(&processes->lock);
	return good;
}

bool python_processes_find(struct python_processes *processes, uint32_t pid,
			   struct python_process *ret)
{
	if (!__atomic_load_n(&processes->count, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&processes->lock);
	const struct python_process *process = find(processes, pid);
	if (process)
		*ret = *process;
	pthread_mutex_unlock(&processes->lock);
	return process;
}

bool python_processes_next_unknown(struct python_processes *processes, size_t *at,
				   struct python_process *ret)
{
	bool found = false;
	pthread_mutex_lock(&processes->lock);
	for (; processes->unknown && *at < processes->list.count && !found; ++*at) {
		const struct python_process *process = &processes->list.items[*at];
		found = process->pid && process->state == PYTHON_UNKNOWN;
		if (found)
			*ret = *process;
	}
	pthread_mutex_unlock(&processes->lock);
	return found;
}

void python_processes_on_read(struct python_processes *processes,
			      const struct python_process *process, uint64_t time_ns, bool good)
{
	/* A copy may be older than the last reading; that one has then failed. */
	if (good && !process->failures)
		return;
	pthread_mutex_lock(&processes->lock);
	struct python_process *found = find(processes, process->pid);
	if (found && found->generation == process->generation) {
		found->failures = good ? 0 : found->failures + 1;
		found->resume_ns = found->failures < PYTHON_FAILURES_MAX ? 0 :
				   time_ns + PYTHON_PAUSE_NS;
	}
	pthread_mutex_unlock(&processes->lock);
}

void python_processes_set(struct python_processes *processes, const struct python_process *process)
{
	pthread_mutex_lock(&processes->lock);
	struct python_process *found = find(processes, process->pid);
	if (found && found->generation == process->generation) {
		processes->unknown -= found->state == PYTHON_UNKNOWN;
		processes->unknown += process->state == PYTHON_UNKNOWN;
		*found = *process;
	}
	pthread_mutex_unlock(&processes->lock);
}
