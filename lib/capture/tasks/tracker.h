/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rings of the side-band: who is mapped where, and which tasks there are.
 * Drained whole, merged by time, passed to the parts that count tasks, and
 * kept as far as they concern what is recorded.
 */
#ifndef CAPTURE_TASKS_TRACKER_H
#define CAPTURE_TASKS_TRACKER_H

#include "capture/tasks/command_ring.h"
#include "capture/tasks/double_sampling.h"
#include "capture/ring_bank/record_offsets.h"
#include "capture/tasks/membership.h"
#include "capture/ring_bank/rewrite.h"
#include "record/encode.h"
#include "ring/ring.h"

/* A record where it lies. */
struct tracker_item {
	uint64_t time_ns, position;
	uint32_t ring;
	uint16_t size;
};

struct tracker_counts {
	uint64_t saved, filtered, repeated; /* records */
	uint64_t lost;    /* records, as LOST says */
	uint64_t damaged; /* bytes */
	uint64_t followed_forks; /* FORK records of the followed */
};

struct tracker {
	struct record_fields fields;
	const struct rewrite *rewrite; /* NULL: nothing is to be changed */
	struct membership *membership; /* the followed tasks; NULL: all */
	/*
	 * Processes with metadata records to write: `membership` if it is by process, else one by
	 * process in addition, because threads share mappings.
	 */
	struct membership *spaces;
	struct membership *threads; /* followed tasks by thread, if `membership` is not; NULL: not needed */
	bool saves_all;    /* keep all records: the kernel gives those of the followed alone */
	struct double_sampling *double_sampling; /* NULL: none */
	/* Followed from its first exec on, or from a rescan if that record was lost; 0: none. */
	uint32_t command_pid;
	bool command_started;  /* it is followed */
	/* Owned by the user; its records are read with those of the rings, and replace theirs. */
	struct command_ring own;
	bool collect_births;
	struct { VEC(struct task_change); } births; /* FORK records, by time; the user empties it */
	struct record_buffer kept; /* by time; the user empties it */
	struct tracker_counts counts;
	uint64_t last_ns; /* the latest time seen */
	struct { VEC(struct tracker_item); } items; /* items of one round */
};

/* Zeroed but for what the user sets, it is ready. */
void tracker_deinit(struct tracker *tracker);

/* Takes all there is in the rings, and releases it. Fails only when out of memory. */
struct sp_error *tracker_drain(struct tracker *tracker, struct ring *rings,
				size_t ring_count) SP_MUST_CHECK;

#endif
