/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Members of struct sp_stat. A counter is one event; it has a unit for each thread, or each
 * CPU (or both), in the order of the stat's targets:
 *
 *	            thread 7 on any CPU   thread 8 on any CPU      or: CPU 0   CPU 1
 *	cycles          fd                    fd
 *	instructions    fd                    fd
 *
 * Members of a group have the units that their leader has, and are read by its descriptor.
 */
#pragma once

#include <sprof/private/command.h>
#include <sprof/stat.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/vec.h"
#include "capture/tasks/workload.h"
#include "count/estimate.h"
#include "event/kernel_calls.h"
#include "event/parse.h"
#include "event/rights.h"
#include "proc/sysfs.h"

/* Aggregation of counts: the distinct places of the targets, ascending. */

/* Zeroed: empty. */
struct stat_places {
	VEC(struct sp_stat_place);
};

/* Returns a place without CPU, socket and thread: -1 everywhere. */
struct sp_stat_place place_nowhere(void);

/*
 * Adds the places of the CPUs, which are ascending, and writes each CPU's index to place_of[].
 * Machines without topology have one socket, die, cluster and node. Fails only when out of memory.
 */
struct sp_error *stat_places_of_cpus(struct stat_places *places, const struct sp_ctx *ctx,
				enum sp_stat_aggregate aggregate, uint32_t cache_level,
				const uint32_t *cpus, size_t cpu_count,
				uint32_t *place_of) SP_MUST_CHECK;

/* Counts of one descriptor. */
struct count_reading {
	uint64_t value, enabled_ns, running_ns;
};

struct count_unit {
	int fd;              /* -1: not open: the task was gone, or the CPU offline */
	bool present;        /* it is open, or needs no descriptor */
	int32_t cpu;         /* -1: any */
	uint32_t place;      /* index into places */
	struct count_reading now, mark;
	/* Sum of earlier descriptors, closed because their CPU went offline. */
	struct count_reading before;
	struct observations since_start, since_mark;
};

struct counter {
	const struct event_spec *spec;
	struct perf_event_attr attr;
	const char *filter;  /* in the stat's arena; NULL: none */
	size_t leader;       /* index of counters; its own if it is alone */
	bool group_read;     /* leaders only: members are read with it */
	int cgroup_fd;       /* -1: none; belongs to the stat */
	struct count_unit *units;
	size_t unit_count;
};

/* A task and CPU on which all events are opened; -1: any. */
struct target {
	int32_t tid, cpu;
	uint32_t place;
};

/* A CPU that is counted. */
struct stat_cpu {
	uint64_t read_ns;    /* CLOCK_MONOTONIC of the last reading while the CPU was online */
	uint64_t enabled_ns; /* enabled time of its counters at that reading */
	uint64_t gone_ns;    /* when the CPU went offline */
	bool gone;           /* offline, or its counters were not opened again yet */
};

/* Options, with the defaults of groups that were not given. */
struct stat_options {
	struct sp_stat_target target;
	struct sp_stat_event_options events;
	bool disabled;
	enum sp_stat_aggregate aggregate;
	uint32_t cache_level;
};

struct sp_stat {
	struct sp_ctx *ctx;
	const struct event_kernel *kernel;
	struct arena arena;
	struct event_specs specs;
	const char **filters;           /* one for each spec; NULL: none */
	struct event_notes notes;
	struct rights rights;
	struct stat_options options; /* its pointers are invalid after sp_stat_new() */
	bool cpu_wide;
	struct cpu_list cpus;
	VEC(struct target) targets;
	VEC(int) cgroups;               /* descriptors */
	struct stat_places places;
	struct counter *counters;
	struct sp_stat_event *events;   /* one for each counter */
	size_t counter_count;
	struct sp_stat_row *rows;
	uint64_t *buffer;               /* for the largest group's read */
	struct workload workload;
	const char *command_name;
	bool has_command, stopped, enabled_once;
	bool only_says_how_long;
	uint64_t start_ns, end_ns, read_ns; /* CLOCK_MONOTONIC */
	uint32_t readings;
	bool multiplexed, may_multiplex;
	bool counts;                    /* counters are enabled */
	struct stat_cpu *cpu_states;    /* one for each target of a whole CPU; NULL: not read yet */
	uint32_t offline_notes;         /* number of notes about offline CPUs */
};

/* Makes events and counters of the options. */
struct sp_error *stat_make_counters(struct sp_stat *stat) SP_MUST_CHECK;

/* Opens all counters on all targets. */
struct sp_error *stat_open(struct sp_stat *stat) SP_MUST_CHECK;

/*
 * Opens a counter on a target again, disabled, in place of its unit's descriptor. Returns 0, or the
 * errno.
 */
int stat_open_again(struct sp_stat *stat, size_t index, const struct target *target, size_t unit);

/* Call it when the counters are enabled (`on`) or disabled: only between, hotplug is detected. */
void stat_watch_cpus(struct sp_stat *stat, bool on);

/*
 * Notes CPUs that went offline, and opens their counters again when they are back. Call it after
 * each reading.
 */
struct sp_error *stat_check_cpus(struct sp_stat *stat) SP_MUST_CHECK;

/* Marks in the names of all events that the kernel is excluded: "cycles:u". */
struct sp_error *stat_name_user_only(struct sp_stat *stat, size_t index) SP_MUST_CHECK;

static inline uint64_t stat_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline bool counter_is_leader(const struct sp_stat *stat, size_t index)
{
	return stat->counters[index].leader == index;
}
