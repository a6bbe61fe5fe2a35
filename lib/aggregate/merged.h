/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All recordings of an analysis, merged. Events with equal names are one event, and rows with equal
 * keys one row. A recording is added after its workers made rows; after that it may be released.
 */
#ifndef AGGREGATE_MERGED_H
#define AGGREGATE_MERGED_H

#include "aggregate/merged_event.h"
#include "aggregate/run.h"

/* A cgroup or a cgroup namespace, as the value of rows. */
struct numbered {
	uint64_t number; /* the cgroup's id, or the namespace's inode number */
	uint64_t device; /* the namespace's device number */
	const char *path; /* the cgroup's path, interned; NULL: unknown, or a namespace */
};

/* State of one recording. */
struct merged_recording {
	uint16_t *events;    /* for each of its events: index among all recordings' events */
	uint64_t *weights;   /* for each of its events: its weight, set when the recording is added */
	size_t event_count;
	size_t finding_count; /* number of findings, up to those of this recording */
};

struct merged {
	struct sp_analysis *analysis; /* borrowed */
	const struct analysis_options *options; /* borrowed */
	struct merged_event *events;
	size_t event_count;
	struct merged_recording *recordings; /* by recording */
	size_t recording_count;
	VEC(struct numbered) numbered; /* index: word of SP_KEY_CGROUP and SP_KEY_CGROUP_ID */
	struct u64map numbered_of;     /* number -> its first index in `numbered` */
	bool keys[SP_KEY_COUNT];       /* keys of rows */
	enum sp_key detail_keys[SP_KEY_COUNT]; /* keys that are values */
	size_t detail_count;
	bool replicates;
	struct u64map thread_of;       /* pid, tid -> index of the timelines' threads */
	uint64_t longest_ns;           /* longest time from a recording's first to its last sample */
};

/*
 * Matches the events of all recordings, sets sp_analysis.events, and finds groups. *merged is zeroed
 * before, and must be deinitialised after a failure, too.
 */
struct sp_error *merged_init(struct merged *merged, struct sp_analysis *analysis,
			   const struct analysis_options *options,
			   const struct sp_recording *recordings, size_t count) SP_MUST_CHECK;
void merged_deinit(struct merged *merged);

/* Adds recording `index`; sets the run's totals and times. */
struct sp_error *merged_add(struct merged *merged, struct run *run, size_t index) SP_MUST_CHECK;

/* Converts each recording's findings to shares of the weight of all recordings. */
void merged_weigh_findings(struct merged *merged);

#endif
