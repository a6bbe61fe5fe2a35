/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All recordings of an analysis, merged. Events of one name are one event; rows of equal keys are
 * one row. Each recording is added when its workers have made rows, and can be released then.
 */
#ifndef AGGREGATE_MERGED_H
#define AGGREGATE_MERGED_H

#include "aggregate/merged_event.h"
#include "aggregate/run.h"

/* A cgroup or a cgroup namespace, as a value of rows. */
struct numbered {
	uint64_t number; /* cgroup id, or the namespace's inode */
	uint64_t device; /* the namespace's device */
	const char *path; /* the cgroup's; interned; NULL: unknown, or a namespace */
};

/* A recording that is merged, or will be. */
struct merged_recording {
	uint16_t *events;    /* number of each of its events among all */
	uint64_t *weights;   /* weight of each of its events, once it is added */
	size_t event_count;
	size_t finding_count; /* findings of this recording and those before it */
};

struct merged {
	struct sp_analysis *analysis; /* borrowed */
	const struct analysis_options *options; /* borrowed */
	struct merged_event *events;
	size_t event_count;
	struct merged_recording *recordings; /* by recording */
	size_t recording_count;
	VEC(struct numbered) numbered; /* by word of SP_KEY_CGROUP and SP_KEY_CGROUP_ID */
	struct u64map numbered_of;     /* number -> the first such in `numbered` */
	bool keys[SP_KEY_COUNT];       /* keys of rows */
	enum sp_key detail_keys[SP_KEY_COUNT]; /* keys that are values */
	size_t detail_count;
	bool replicates;
};

/*
 * Matches the events of all recordings, which sets sp_analysis.events, and finds their groups.
 * *merged is zeroed. To be released after a failure, too.
 */
struct sp_error *merged_init(struct merged *merged, struct sp_analysis *analysis,
			   const struct analysis_options *options,
			   const struct sp_recording *recordings, size_t count) SP_MUST_CHECK;
void merged_deinit(struct merged *merged);

/* Adds recording `index`; sets the run's totals and times. */
struct sp_error *merged_add(struct merged *merged, struct run *run, size_t index) SP_MUST_CHECK;

/* Makes the shares of findings on one of several recordings shares of the weight of all. */
void merged_weigh_findings(struct merged *merged);

#endif
