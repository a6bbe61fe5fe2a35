/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contents of the files on the simulated disk, as the library reads them. */
#ifndef SIM_FOUND_H
#define SIM_FOUND_H

#include "scenario.h"

/* A sample of a file, or a record of a task or mapping. */
struct sim_found {
	uint64_t time_ns, order, ip, chain_hash, period;
	uint32_t type, pid, tid, cpu;
	uint16_t misc;
	uint64_t id, addr, start, size;
	unsigned int file;
	uint32_t ppid;
	bool has_stack;            /* copied, to be unwound later */
	bool is_wait;              /* a sample of offcpu-time */
	bool is_preempted;         /* a sample of preempted-time */
};

/* Sums over all files. */
struct sim_read_back {
	struct sim_found *items;   /* in order of time */
	size_t count, room;
	uint64_t lost;             /* by LOST records */
	uint64_t lost_samples;     /* by LOST_SAMPLES */
	uint64_t *ids;             /* ids of the events in the headers */
	size_t id_count;
	uint64_t *splits;          /* times at which a later file began */
	size_t split_count;
	uint64_t dropped_waits;    /* samples of waits that exceeded the recorder's memory, by its note */
	uint64_t denied;           /* snapshots, by the recorder's note */
	unsigned int files;
};

/* Reads all files, and checks what needs no comparison with the kernel's records. */
void sim_read_files(struct sim_read_back *ret, bool killed);

/* waits.c: index of the kernel's first record at that time or later. */
size_t sim_truth_from(uint64_t time_ns);
/* Whether the id is of an event that samples context switches. */
bool sim_is_wait(uint64_t id);
/* Whether the kernel made no sample of it: a snapshot, or the rest of a wait that began in another file. */
bool sim_is_made(const struct sim_read_back *read_back, const struct sim_found *found);
/* The same of sched:sched_waking. */
bool sim_is_waking(uint64_t id);
/* Begin of the first file after that time; UINT64_MAX: there is none. Waits of that time are in two files. */
/* Whether a period is that of a wait while one of N switches is sampled; `all_ns`: if each is. */
bool sim_is_of_part(uint64_t duration_ns, uint64_t all_ns, uint64_t period_ns);

uint64_t sim_next_file_ns(const struct sim_read_back *read_back, uint64_t after_ns);
/* Compares samples of waits and of preempted threads with the kernel's switches. */
void sim_check_waits(const struct sim_scenario *scenario, const struct sim_read_back *read_back);

/* snapshots.c: compares stack snapshots with the waits of tasks. */
void sim_check_snapshots(const struct sim_scenario *scenario, const struct sim_read_back *read_back,
			 bool killed);
/* wakeups.c: compares samples of wake-ups with the scheduler's. */
void sim_check_wakeups(const struct sim_scenario *scenario, const struct sim_read_back *read_back);

/* states.c: compares the states of each thread, by the library's reader, with the scheduler's account. */
void sim_check_states(const struct sim_scenario *scenario, const struct sim_read_back *read_back,
		      bool killed);

/* mappings.c; the records are in order of time. */
void sim_check_mappings(const struct sim_found *items, size_t count);

#endif
