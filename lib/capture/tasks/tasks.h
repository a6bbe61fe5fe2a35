/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorded tasks: found when recording begins, followed by metadata records, read again from
 * /proc after such records were lost, and forgotten. The order of calls:
 *
 *	tasks_init()
 *	tasks_find()       find.h: running processes and threads of the target
 *	workload_fork()    workload.h: the command, if there is one
 *	tasks_connect()    once events are planned
 *	tasks_attach()     attach.h: opens events, and describes what runs
 *	tasks_drain()      in each round, before samples are read; then rescan.h
 *	tasks_expire()
 *	tasks_deinit()
 *
 * descendants.h has processes that are related to the target. One thread at a time. Times are the
 * recording's clock, unless they are called monotonic. Functions fail only when out of memory,
 * unless their description has more.
 */
#pragma once

#include <sprof/capture.h>
#include "base/vec.h"
#include "capture/config/config.h"
#include "capture/metadata/synth.h"
#include "capture/notes/notes.h"
#include "capture/tasks/double_sampling.h"
#include "capture/tasks/membership.h"
#include "capture/tasks/moved.h"
#include "capture/tasks/tracker.h"
#include "capture/tasks/workload.h"
#include "event/kernel_calls.h"
#include "proc/process_tree.h"
#include "proc/proc_tasks.h"

/*
 * Limit of mappings that are read at once for a process without samples: half a second of CPU time.
 * Processes with more are read when they have a sample (metadata_hold.h).
 */
#define TASKS_MAPPINGS_MAX 250000

/* A process that is followed from the beginning, with the threads it had. */
struct recorded_process {
	uint32_t pid;
	struct task_list threads;
	struct task_stat *stats; /* stat lines of `threads` as first listed; NULL: it had ended */
	size_t stat_count;
	struct task_list later;  /* attaching task by task: threads found since */
	bool may_end; /* not given by pid: it may have ended, which is no error */
};

/* Collaborators, all borrowed for as long as the part exists. */
struct tasks_parts {
	struct sp_ctx *ctx;
	const struct event_kernel *kernel;
	const struct capture_config *config; /* its plan and CPUs are read only after
					      * tasks_connect() */
	const struct rewrite *rewrite;
	struct notes *notes;
	struct record_buffer *synthesised;   /* receives records of running tasks; the caller
					      * empties it */
};

/* Times of readings of /proc (rescan.h). Monotonic; 0: never. */
struct rescan_state {
	uint64_t lost;        /* number of lost metadata records at the last rescan */
	uint64_t time_ns;     /* time of the last rescan */
	uint64_t ended_ns;    /* time of the last search for ended tasks */
	bool is_requested;    /* records may be lost without a LOST record */
	bool is_cpu_back;     /* a CPU is back: its records since then were never made */
	/* The same for tasks_rescan_command(). */
	uint64_t command_lost, command_ns;
	bool is_command_requested;
};

/* Processes that messages name. */
struct related_processes {
	VEC(struct sp_capture_process);
};

struct recorded_tasks {
	struct tasks_parts parts;
	struct workload workload;
	struct { VEC(struct recorded_process); } processes;
	struct task_list wanted_threads; /* CAPTURE_THREADS; sorted */
	struct task_list roots;          /* processes given by pid; sorted */
	bool descendants;                /* record descendants of `roots`, too */
	struct process_tree begin_tree;  /* when recording began; only with `roots` */
	struct related_processes refused, unrecorded;
	uint64_t used_ns;                /* CPU time of `roots` during the recording */
	uint64_t begin_ns;               /* when begin_tree was read */
	uint64_t during_ns;              /* time from then to the reading at the end */
	struct membership membership, spaces;
	struct membership threads;       /* by thread, if wake-ups need it and `membership` is by process */
	struct double_sampling double_sampling;
	struct tracker tracker;
	struct synth *synth;             /* owned; from tasks_attach() on */
	struct moved_code moved;
	size_t mappings_max;             /* TASKS_MAPPINGS_MAX; tests have fewer */
	uint64_t begin_ticks;            /* start of the recording, in task_stat's start_ticks */
	uint64_t open_ns;                /* CPU-wide: all changes of tasks are recorded from then on */
	struct rescan_state rescan;
};

/* Sets the recording's start to now. Before this, a zeroed part must not be used. */
void tasks_init(struct recorded_tasks *tasks, const struct tasks_parts *parts);

/* Ends a forked command that was not started. */
void tasks_deinit(struct recorded_tasks *tasks);

/* Returns a process that is followed from the beginning, or NULL. */
const struct recorded_process *tasks_process(const struct recorded_tasks *tasks, uint32_t pid);

/* Adds a process that is followed from the beginning, unless it is there already. */
struct sp_error *tasks_add_process(struct recorded_tasks *tasks, uint32_t pid,
				   bool may_end) SP_MUST_CHECK;

/* Sets up the followed tasks, by the configuration and its plan. */
void tasks_connect(struct recorded_tasks *tasks);

/* Returns whether samples of a running thread are wanted. */
bool tasks_wants_thread(const struct recorded_tasks *tasks, uint32_t tid);

/*
 * Returns the followed tasks by thread. Only after tasks_connect(), and if wake-ups are recorded.
 */
const struct membership *tasks_threads(const struct recorded_tasks *tasks);

/* Follows a task from a time on. */
struct sp_error *tasks_follow(struct recorded_tasks *tasks, uint32_t pid, uint32_t tid,
			      uint64_t from_ns) SP_MUST_CHECK;

/*
 * Drains the metadata rings, one for each CPU of the configuration: follows forks, execs and exits,
 * and appends records of recorded tasks to tracker.kept, by time.
 */
struct sp_error *tasks_drain(struct recorded_tasks *tasks, struct ring *rings) SP_MUST_CHECK;

/* Returns the present time. If the kernel's clock cannot be read: the latest time of a record. */
uint64_t tasks_now_ns(const struct recorded_tasks *tasks);

/*
 * Returns whether the command, or all processes that were followed from the beginning, have ended.
 */
bool tasks_is_over(const struct recorded_tasks *tasks);

/* Drops state before that time: no older sample will be filtered. */
void tasks_expire(struct recorded_tasks *tasks, uint64_t before_ns);
