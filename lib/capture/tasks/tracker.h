/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drains the side-band's rings: mappings, names, forks and exits of tasks. Merges their records by
 * time, passes them to the parts that count tasks, and saves those of recorded processes.
 */
#pragma once

#include "capture/tasks/command_ring.h"
#include "capture/tasks/double_sampling.h"
#include "capture/ring_bank/record_offsets.h"
#include "capture/tasks/membership.h"
#include "capture/ring_bank/rewrite.h"
#include "record/encode.h"
#include "ring/ring.h"

/* A record in a ring. */
struct tracker_item {
	uint64_t time_ns, position;
	uint32_t ring;
	uint16_t size;
};

struct tracker_counts {
	uint64_t saved, filtered, repeated; /* records */
	uint64_t lost;    /* number in LOST records */
	uint64_t damaged; /* bytes */
	uint64_t followed_forks; /* FORK records of followed tasks */
};

struct tracker {
	struct record_fields fields;
	const struct rewrite *rewrite; /* NULL: records do not change */
	struct membership *membership; /* the followed tasks; NULL: all */
	/*
	 * Processes with metadata records to write: `membership` if it is by process, else one by
	 * process in addition, because threads share mappings.
	 */
	struct membership *spaces;
	struct membership *threads; /* followed tasks by thread, if `membership` is not; NULL: not needed */
	bool saves_all;    /* saves all records: the kernel writes only those of followed tasks */
	struct double_sampling *double_sampling; /* NULL: none */
	/* Followed from its first exec, or from a rescan if that record was lost; 0: none. */
	uint32_t command_pid;
	bool command_started;  /* the command is followed */
	/* Owned by the caller. Its records are read with those of the rings, and replace theirs. */
	struct command_ring own;
	bool collect_births;
	struct {
		VEC(struct task_change);
	} births;		   /* FORK records, by time; the caller empties it */
	struct record_buffer kept; /* saved records, by time; the caller empties it */
	struct tracker_counts counts;
	uint64_t last_ns; /* latest time of a record */
	struct { VEC(struct tracker_item); } items; /* items of one round */
};

/* Zeroed, except for members that the caller sets: ready. */
void tracker_deinit(struct tracker *tracker);

/* Reads all records in the rings, and releases them. Fails only when out of memory. */
struct sp_error *tracker_drain(struct tracker *tracker, struct ring *rings,
				size_t ring_count) SP_MUST_CHECK;
