/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tasks that are recorded: found, followed, and forgotten. */
#ifndef CAPTURE_TASKS_TASKS_H
#define CAPTURE_TASKS_TASKS_H

#include <sprof/capture.h>
#include "base/vec.h"
#include "capture/tasks/doubt.h"
#include "capture/tasks/membership.h"
#include "capture/tasks/tracker.h"
#include "capture/tasks/workload.h"
#include "proc/process_tree.h"
#include "proc/tasks.h"

/* A process that is followed from the beginning, with the threads it had. */
struct capture_process {
	uint32_t pid;
	struct task_list threads;
	/* Attaching task by task: what is known of the first ones; those found later. */
	struct task_stat *stats;
	size_t stat_count;
	struct task_list later;
	bool is_descendant;  /* found by --descendants: it may end at any time */
};

struct recorded_tasks {
	struct workload workload;
	struct { VEC(struct capture_process); } processes;
	struct task_list wanted_threads; /* CAPTURE_THREADS */
	struct task_list roots;          /* processes that were given by pid, ascending */
	bool descendants;                /* record theirs, too */
	struct process_tree begin_tree;  /* when recording began; of `roots` alone */
	struct { VEC(struct sp_capture_process); } refused, unrecorded;
	uint64_t used_ns;                /* CPU time of `roots` during the recording */
	struct membership membership, spaces;
	struct doubts doubts;
	struct tracker tracker;
	uint64_t begin_ticks;           /* as task_stat's start_ticks: nobody was attached to before */
	uint64_t ended_asked_ns;        /* when it was last looked for tasks that have ended */
	uint64_t sideband_lost_seen;    /* has been dealt with, */
	uint64_t rescan_ns;             /* at that time */
};

#endif
