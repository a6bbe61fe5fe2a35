/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/moved.h"

#include <sys/mman.h>

/* Limits of the interval between two reads of a process. */
#define INTERVAL_NS 10000000
#define DOUBLINGS 10

/* The record may precede the copying. */
#define RETRIES 3

/* Limits of known processes, of reads in a round, and of mappings in one read. */
#define PROCESSES_MAX 1024
#define READS_MAX 4
#define MAPPINGS_MAX 8192

void moved_code_deinit(struct moved_code *moved)
{
	vec_deinit(&moved->processes);
	u64map_deinit(&moved->index_of);
}

static bool add(struct moved_code *moved, uint32_t pid, uint64_t time_ns)
{
	if (moved->processes.count >= PROCESSES_MAX && !u64map_find(&moved->index_of, pid)) {
		moved_code_deinit(moved);
		*moved = (struct moved_code){0};
	}
	struct moved_process *process = u64map_item(&moved->index_of, pid, &moved->processes);
	if (!process)
		return false;
	process->pid = pid;
	moved->pending += !process->time_ns;
	process->time_ns = time_ns;
	process->retries = 0;
	return true;
}

bool moved_code_on_record(struct moved_code *moved, const struct metadata_record *record)
{
	struct metadata_mapping mapping;
	return !metadata_mapping(record, &mapping) || !(mapping.prot & PROT_EXEC) ||
	       !mapping.path || !synth_is_memory(mapping.path) ||
	       add(moved, mapping.pid, record->time_ns);
}

static struct sp_error *read_process(struct moved_process *process, struct synth *synth,
				     uint64_t monotonic_ns, uint64_t from_ns)
{
	uint32_t doublings = process->reads < DOUBLINGS ? process->reads : DOUBLINGS;
	uint64_t time_ns = process->time_ns + 1;
	size_t unproven;
	process->reads++;
	process->next_ns = monotonic_ns + ((uint64_t)INTERVAL_NS << doublings);
	synth_set_time(synth, time_ns > from_ns ? time_ns : from_ns);
	struct sp_error *error =
		synth_moved(synth, process->pid, process->pid, MAPPINGS_MAX, &unproven);
	synth_set_time(synth, 0);
	if (!unproven || process->retries++ == RETRIES)
		process->time_ns = 0;
	return error;
}

struct sp_error *moved_code_read(struct moved_code *moved, struct synth *synth,
				 uint64_t monotonic_ns, uint64_t from_ns, bool last)
{
	struct sp_error *error = NULL;
	unsigned int reads = 0;
	for (size_t i = 0; i < moved->processes.count && moved->pending && !error; i++) {
		struct moved_process *process = &moved->processes.items[i];
		if (!process->time_ns || (monotonic_ns < process->next_ns && !last))
			continue;
		if (reads++ == READS_MAX)
			break;
		error = read_process(process, synth, monotonic_ns, from_ns);
		moved->pending -= !process->time_ns;
	}
	return error;
}
