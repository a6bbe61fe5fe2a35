/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Holds samples against the names and mappings of their processes in the same file. */
#include <stdlib.h>
#include <string.h>
#include <sprof/reader.h>
#include "found.h"

struct known {
	uint32_t pid;
	bool named;
	bool complete;      /* all of its mappings are known */
	uint64_t read_ns;   /* time of its FORK from /proc */
	uint32_t unknown;   /* its ancestor that is not; 0: none */
	struct { uint64_t start, size; } maps[64];
	size_t count;
};

static struct {
	struct known *items;
	size_t count;
} known;

static struct known *know(uint32_t pid)
{
	if (pid >= known.count) {
		size_t count = pid + 1024;
		known.items = realloc(known.items, count * sizeof(*known.items));
		if (!known.items)
			abort();
		memset(known.items + known.count, 0, (count - known.count) * sizeof(*known.items));
		known.count = count;
	}
	return &known.items[pid];
}

/* Whether a process ended before its turn in /proc came; `replaced`: and began a program before that. */
static bool was_missed(uint32_t pid, bool replaced)
{
	const struct sim_process *process = sim_process_find(pid);
	return process && process->ended && !process->was_read &&
	       (!replaced || (process->replaced_ns && process->replaced_ns < sim_result.begin_ns));
}

static void learn(const struct sim_found *found)
{
	struct known *process = know(found->pid > found->ppid ? found->pid : found->ppid);
	process = know(found->pid);
	bool is_read = found->misc & PERF_RECORD_MISC_FORK_EXEC; /* from /proc */
	switch (found->type) {
	case PERF_RECORD_FORK:
		if (found->pid != found->ppid && is_read) {
			/* It may end before its mappings are read: those that were known must stay. */
			*process = (struct known){.pid = found->pid, .complete = process->complete,
						  .read_ns = found->time_ns};
		} else if (found->pid != found->ppid) {
			const struct known *parent = know(found->ppid);
			bool replaced = was_missed(found->ppid, true);
			bool nearest = replaced || !parent->unknown || was_missed(found->ppid, false);
			*process = *parent;
			process->pid = found->pid;
			process->complete &= !replaced;
			process->unknown = process->complete ? 0 : nearest ? found->ppid : parent->unknown;
		}
		break;
	case PERF_RECORD_COMM:
		process->named = true;
		if (found->misc & PERF_RECORD_MISC_COMM_EXEC) {
			process->count = 0;
			process->complete = true;
		}
		break;
	case PERF_RECORD_MMAP2:
		process->complete |= found->time_ns == process->read_ns;
		if (process->count < 64) {
			process->maps[process->count].start = found->start;
			process->maps[process->count++].size = found->size;
		}
		break;
	}
}

/*
 * Returns whether it changed on a CPU with events that were not reopened yet; /proc had it later,
 * if it lived.
 */
static bool is_unknown(const struct sim_found *found)
{
	const struct sim_process *process = sim_process_find(found->pid);
	return process && (process->unknown_until_ns > found->time_ns ||
			   (process->unknown_until_ns && process->ended));
}

static void check_mapping(const struct sim_found *found)
{
	const struct known *process = know(found->pid);
	/* An ancestor ended before its turn in /proc came: nothing can be known. */
	const struct sim_process *ancestor = process->unknown ? sim_process_find(process->unknown) : NULL;
	const struct sim_task *leader = sim_task_find(found->pid);
	/* Wakers need not be recorded. */
	if (sim_is_waking(found->id) && leader && (!leader->followed || leader->uncertain))
		return;
	bool began_before = leader && leader->start_ns < sim_result.begin_ns;
	bool early = began_before && leader->process->ended && !process->complete;
	/* /proc had the mappings of a later program. */
	early |= began_before && found->time_ns < leader->process->replaced_ns;
	if (early || (ancestor && ancestor->ended) || is_unknown(found))
		return;
	if (!process->named && found->pid) {
		sim_violation("process %u has no name at its sample of %llu", found->pid,
			      (unsigned long long)found->time_ns);
		return;
	}
	if (found->ip >> 63)
		return;
	for (size_t i = 0; i < process->count; i++)
		if (found->ip - process->maps[i].start < process->maps[i].size)
			return;
	sim_violation("no mapping of process %u for its sample of %llu", found->pid,
		      (unsigned long long)found->time_ns);
}

void sim_check_mappings(const struct sim_found *items, size_t count)
{
	memset(known.items, 0, known.count * sizeof(*known.items));
	for (size_t i = 0; i < count; i++) {
		if (items[i].type == PERF_RECORD_SAMPLE)
			check_mapping(&items[i]);
		else
			learn(&items[i]);
	}
}
