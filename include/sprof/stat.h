/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counting events of a command, of running tasks, or of whole CPUs.
 *
 *	struct sp_stat *stat;
 *	error = sp_stat_new(ctx, &options, &stat);
 *	error = sp_stat_start(stat);
 *	until the command has ended, each sp_stat_period_ms(): error = sp_stat_read(stat);
 *	error = sp_stat_stop(stat);
 *	error = sp_stat_sum(stat, SP_STAT_SINCE_START);
 *	row = sp_stat_row(stat, 0, 0);
 *	sp_stat_free(stat);
 */
#ifndef SPROF_STAT_H
#define SPROF_STAT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sprof/capture.h>
#include <sprof/ctx.h>
#include <sprof/list.h>
#include <sprof/options.h>
#include <sprof/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_stat;

/* Aggregation of counts. All but GLOBAL and THREAD need system-wide counting. */
enum sp_stat_aggregate {
	SP_STAT_GLOBAL,
	SP_STAT_CPU,
	SP_STAT_CORE,
	SP_STAT_CLUSTER,
	SP_STAT_CACHE, /* CPUs that share a cache of `cache_level` */
	SP_STAT_DIE,
	SP_STAT_SOCKET,
	SP_STAT_NODE,   /* NUMA node */
	SP_STAT_THREAD,
};

/*
 * Tasks or CPUs to count: at least one of command, pids, tids, system_wide and cpus. With one of the
 * others, a command is not counted itself; counting ends when it ends.
 */
struct sp_stat_target {
	size_t size;                /* sizeof of this struct, as in each group */
	const char *const *command; /* program and arguments, NULL-terminated */
	struct sp_number_list pids, tids;
	bool system_wide;
	const char *cpus;           /* count only these CPUs, "0-3,5" */
	/*
	 * Control groups, counted CPU-wide: event n counts in group n (the last group: all further
	 * events).
	 */
	struct sp_string_list cgroups;
	bool each_cgroup;           /* count all events in each group */
	enum sp_choice inherit;     /* count new threads and children, too */
};

/* Events to count. */
struct sp_stat_event_options {
	size_t size;
	const char *text;           /* syntax of `-e`; NULL: perf stat's default events */
	const struct sp_event_list *lists; /* several lists with filters, instead of `text` */
	size_t list_count;
	unsigned int detail;        /* 0 to 3: further events of caches, as -d, -dd, -ddd */
	bool time_only;             /* count no event */
	bool user_only, kernel_only; /* mode of events without modifiers */
	enum sp_choice scale;       /* scale up counts of multiplexed events */
};

/*
 * Groups of options. NULL and zeroed groups are the defaults of `sprof stat`; a target is needed.
 * Borrowed until sp_stat_new() returns.
 */
struct sp_stat_options {
	size_t size;
	const struct sp_stat_target *target;
	const struct sp_stat_event_options *events;
	bool disabled;              /* count nothing before sp_stat_enable() */
	enum sp_stat_aggregate aggregate;
	uint32_t cache_level;       /* cache of SP_STAT_CACHE; 0: the last level */
};

/*
 * Opens the events, and forks the command's process, which waits for the start. Events that this
 * machine or kernel lacks are no failure: their rows are not supported. Without the right to count
 * in the kernel, only user space is counted, and names end in ":u". sp_stat_free() frees *ret.
 * Errors have cause and remedy.
 */
SP_API struct sp_error *sp_stat_new(struct sp_ctx *ctx, const struct sp_stat_options *options,
				    struct sp_stat **ret) SP_MUST_CHECK;

/* Closes all events. Kills a command that was not started. NULL is allowed. */
SP_API void sp_stat_free(struct sp_stat *stat);

/*
 * Starts counting (unless `disabled`), and executes the command. Fails with SP_ERROR_NOT_FOUND or
 * SP_ERROR_PERMISSION if it cannot be executed.
 */
SP_API struct sp_error *sp_stat_start(struct sp_stat *stat) SP_MUST_CHECK;

/* Enable and disable all events. May be repeated. */
SP_API struct sp_error *sp_stat_enable(struct sp_stat *stat) SP_MUST_CHECK;
SP_API struct sp_error *sp_stat_disable(struct sp_stat *stat) SP_MUST_CHECK;

/*
 * Returns a file descriptor that is readable after the command's end; -1: there is none, or the
 * kernel lacks pidfds (5.3). It belongs to the stat.
 */
SP_API int sp_stat_fd(const struct sp_stat *stat);

/* Returns the command's process; 0: no command, or it has been reaped. */
SP_API pid_t sp_stat_pid(const struct sp_stat *stat);

/* Returns whether all of pids and tids have ended; false if there are none. */
SP_API bool sp_stat_targets_gone(const struct sp_stat *stat);

/*
 * Returns the useful interval of sp_stat_read() in ms. If events are multiplexed, the variation of
 * their rate between readings gives the interval of a scaled count. If CPUs may go offline, counts
 * since the last reading are lost. 0: no readings in between are needed.
 */
SP_API uint32_t sp_stat_period_ms(const struct sp_stat *stat);

/* Reads all counters. */
SP_API struct sp_error *sp_stat_read(struct sp_stat *stat) SP_MUST_CHECK;

/* Starts SP_STAT_SINCE_MARK at the last reading. */
SP_API void sp_stat_mark(struct sp_stat *stat);

/* Reads a last time and disables all events, whether or not the command has ended. */
SP_API struct sp_error *sp_stat_stop(struct sp_stat *stat) SP_MUST_CHECK;

/*
 * Waits for the command's end and returns its status as waitpid(2) does. If `wait` is false and the
 * command runs, *ended_ret is false.
 */
SP_API struct sp_error *sp_stat_wait(struct sp_stat *stat, bool wait, bool *ended_ret,
				     int *status_ret) SP_MUST_CHECK;

/*
 * Returns the time from the start (with `disabled`: from the first sp_stat_enable()) to now, the
 * command's end or the stop, whichever is first.
 */
SP_API uint64_t sp_stat_elapsed_ns(const struct sp_stat *stat);

/* Returns the time from the start to the last reading: the end of an interval. */
SP_API uint64_t sp_stat_read_ns(const struct sp_stat *stat);

/*
 * Returns the CPU times of the command and of the children it waited for; false before it is
 * reaped.
 */
SP_API bool sp_stat_times(const struct sp_stat *stat, uint64_t *user_ns_ret,
			  uint64_t *system_ns_ret);

/* An event that is counted; strings belong to the stat. */
struct sp_stat_event {
	const char *name;   /* "cycles", "cycles:u" */
	const char *unit;   /* unit of `scale` times the count: "msec"; "" for plain counts */
	double scale;
	const char *cgroup; /* or NULL */
	size_t leader;      /* index of its group's first event; its own if it is alone */
	uint32_t type;      /* PERF_TYPE_* */
	uint64_t config;
	uint32_t modes;     /* SP_STAT_NO_*: excluded modes */
	bool supported;     /* false: this machine or kernel does not have it, see `why` */
	const char *why;    /* or NULL */
};

#define SP_STAT_NO_USER 1u
#define SP_STAT_NO_KERNEL 2u
#define SP_STAT_NO_HV 4u
#define SP_STAT_NO_IDLE 8u
#define SP_STAT_NO_HOST 16u
#define SP_STAT_NO_GUEST 32u

/* The events, in their order; they belong to the stat. */
SP_API size_t sp_stat_event_count(const struct sp_stat *stat);
SP_API const struct sp_stat_event *sp_stat_event(const struct sp_stat *stat, size_t index);

/* Place of a row, by the aggregation; members that it does not have are -1. */
struct sp_stat_place {
	int32_t cpu, core, cluster, cache, cache_level, die, socket, node;
	int32_t tid;
	const char *comm; /* SP_STAT_THREAD; else NULL */
};

/* The places, ascending; one for SP_STAT_GLOBAL. They belong to the stat. */
SP_API size_t sp_stat_place_count(const struct sp_stat *stat);
SP_API const struct sp_stat_place *sp_stat_place(const struct sp_stat *stat, size_t index);

enum sp_stat_span { SP_STAT_SINCE_START, SP_STAT_SINCE_MARK };

/* Count of one event at one place. */
struct sp_stat_row {
	bool counted;     /* false: it never ran, and all members below are 0 */
	uint32_t members; /* CPUs that belong to the place */
	double value;     /* count, scaled up if the event ran part of the time */
	uint64_t raw;     /* unscaled count */
	uint64_t enabled_ns, running_ns; /* sums over all members */
	/*
	 * For scaled counts: the 95 % interval of the whole count, if `interval_known`. It needs
	 * several readings: the variance between them is the model (doc/sprof-stat.1).
	 */
	bool interval_known;
	double low, high;
	uint32_t observations; /* number of readings that the interval is computed from */
	double error;          /* standard error of value, 0 unless interval_known */
};

/* Computes the rows of the last reading. */
SP_API struct sp_error *sp_stat_sum(struct sp_stat *stat, enum sp_stat_span span) SP_MUST_CHECK;

/* Returns a row of the last sp_stat_sum(); it belongs to the stat and changes by the next one. */
SP_API const struct sp_stat_row *sp_stat_row(const struct sp_stat *stat, size_t place,
					     size_t event);

/* Notes, one line each: options that were reduced. Belongs to the stat. */
SP_API size_t sp_stat_note_count(const struct sp_stat *stat);
SP_API const char *sp_stat_note(const struct sp_stat *stat, size_t index);

/* Metrics from several counts. */
enum sp_stat_derived_kind {
	SP_STAT_CPUS_UTILIZED,       /* CPU time / elapsed time */
	SP_STAT_GHZ,                 /* cycles / ns of CPU time */
	SP_STAT_INSN_PER_CYCLE,
	SP_STAT_STALLED_PER_INSN,    /* stalled cycles / instruction */
	SP_STAT_FRONTEND_IDLE,       /* percent of cycles */
	SP_STAT_BACKEND_IDLE,        /* percent of cycles */
	SP_STAT_BRANCH_MISSES,       /* percent of all branches */
	SP_STAT_CACHE_MISSES,        /* percent of all cache references */
	SP_STAT_L1D_MISSES,          /* percent of all accesses to that cache */
	SP_STAT_L1I_MISSES,
	SP_STAT_DTLB_MISSES,
	SP_STAT_ITLB_MISSES,
	SP_STAT_LLC_MISSES,
	SP_STAT_RATE,                /* count / second of CPU time */
};

/* Its members are final. */
struct sp_stat_derived {
	enum sp_stat_derived_kind kind;
	/* False: the other event was not counted, or a part of it is more than the whole. */
	bool known;
	double value;
};

/*
 * Computes metrics of the event `index` from all rows of one place: events[count], rows[count].
 * Returns how many of ret[] are set: 0 to 2.
 */
SP_API size_t sp_stat_derive(const struct sp_stat_event *const *events,
			     const struct sp_stat_row *const *rows, size_t count, size_t index,
			     double elapsed_ns, struct sp_stat_derived ret[2]);

#ifdef __cplusplus
}
#endif
#endif
