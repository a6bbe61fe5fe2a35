/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merges all recordings of an analysis. Events with equal names become one event, and rows with equal
 * keys one row. A recording is added after its workers made rows; afterwards it may be released.
 */
#ifndef ROWS_MERGED_H
#define ROWS_MERGED_H

#include "rows/merged_event.h"
#include "rows/run.h"
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
	uint64_t *weights;   /* index: event of this recording; value: its weight, set when the recording is
			      * added */
	size_t event_count;
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
	bool keys[SP_KEY_LIMIT];       /* keys of rows */
	enum sp_key detail_keys[SP_KEY_LIMIT]; /* keys of rows that are values of samples */
	size_t detail_count;
	bool replicates;
	struct u64map thread_of;       /* pid, tid -> index of the timelines' threads */
	struct timed_cells timed;      /* modes of time: the recording's cells, to be placed */
	unsigned int part_shift;       /* widest parts of the recordings, see timed_cells_shift() */
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

/* Adds the results of recording `index`. Also sets the run's totals and times. */
struct sp_error *merged_add(struct merged *merged, struct run *run, size_t index) SP_MUST_CHECK;

/*
 * Converts the shares in findings from shares of one recording's weight to shares of all recordings'
 * weight.
 */
void merged_scale_findings(struct merged *merged);

#endif
