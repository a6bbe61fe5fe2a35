/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merges all recordings of an analysis. Events with equal names become one event, and rows with equal
 * keys one row. A recording is added after its workers made rows; afterwards it may be released.
 */
#pragma once

#include "machine/pools.h"
#include "rows/make_rows.h"
#include "rows/merged_event.h"
#include "rows/result.h"
#include "rows/timed_cells.h"

/* A cgroup or a cgroup namespace, as rows show it. */
struct numbered {
	uint64_t number; /* the cgroup's id, or the namespace's inode number */
	uint64_t device; /* the namespace's device number */
	const char *path; /* the cgroup's path, interned; NULL: unknown, or a namespace */
};

/* Data of one recording. */
struct merged_recording {
	uint16_t *events;    /* index: event of this recording; value: number of the event among all
			      * recordings' events */
	size_t event_count;
	const char *label; /* path with which its findings begin; NULL: there are no others */
	struct sp_profile *totals; /* index: event; totals of this recording, without rows; set when
				    * it is added */
	uint64_t weight;           /* modes of time: its part of the profile's weight */
	struct sp_time_span span;  /* first to last sample; 0 to 0: none has a time */
	size_t finding_count; /* number of findings of this recording and of those before it */
};

struct merged {
	struct sp_analysis *analysis; /* borrowed */
	const struct analysis_options *options; /* borrowed */
	const struct weigher *weigher;
	struct merged_event *events;
	size_t event_count;
	struct merged_recording *recordings; /* by recording */
	size_t recording_count;
	VEC(struct numbered) numbered; /* value of the keys SP_KEY_CGROUP and SP_KEY_CGROUP_ID is an index
				        * here */
	struct u64map numbered_of;     /* id or inode number -> its first index in `numbered` */
	struct analysis_keys keys;
	struct pools pools;            /* pools of processes, if rows have them */
	struct u64map thread_of;       /* pid, tid -> index of the timelines' threads */
	struct timed_cells timed;      /* modes of time: the recording's cells, to be placed */
	unsigned int part_shift;       /* widest parts of the recordings, see timed_cells_shift() */
	/*
	 * Batches of between-run intervals: the recordings, or parts of a single one's time. 0:
	 * rows have none.
	 */
	size_t batch_count;
	uint64_t longest_ns;           /* longest time of a recording in the timelines */
};

/*
 * Matches the events of all recordings, sets sp_analysis.events, and finds event groups. *merged must
 * be deinitialised after a failure, too.
 */
struct sp_error *merged_init(struct merged *merged, struct sp_analysis *analysis,
			   const struct analysis_options *options,
			   const struct sp_recording *recordings, size_t count) SP_MUST_CHECK;
void merged_deinit(struct merged *merged);

/* Returns whether batches are recordings. */
static inline bool merged_by_run(const struct merged *merged)
{
	return merged->batch_count && merged->recording_count > 1;
}

/* Adds the results of a recording, with its span. Also sets its totals. */
struct sp_error *merged_add(struct merged *merged, struct merged_recording *recording,
			    const struct workers *workers) SP_MUST_CHECK;

/*
 * Converts the shares in findings from shares of one recording's weight to shares of all recordings'
 * weight.
 */
void merged_scale_findings(struct merged *merged);
