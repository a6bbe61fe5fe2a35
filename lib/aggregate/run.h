/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of an analysis, and the state while it runs. */
#ifndef AGGREGATE_RUN_H
#define AGGREGATE_RUN_H

#include "aggregate/event_groups.h"
#include "aggregate/matches.h"
#include "aggregate/names.h"
#include "aggregate/options.h"
#include "aggregate/worker.h"
#include "base/strtab.h"
#include "profile/cells.h"
#include "profile/profile.h"
#include "sideband/dump_unwind.h"
#include "sideband/sideband.h"

/* One event's timeline. */
struct event_timeline {
	struct sp_timeline shown;
	VEC(struct sp_timeline_node) nodes;
	struct u64map index_of; /* a tree node's address -> its index in nodes */
	struct cells cells;
};

/* A zeroed struct may be released. */
void event_timeline_deinit(struct event_timeline *timeline);

/* Result of an analysis; owns everything that it returns. */
struct sp_analysis {
	struct functions functions; /* functions of rows; own all texts */
	struct functions nodes;     /* functions of tree nodes */
	struct srcfiles row_files, node_files;
	struct strtab strings;
	struct arena arena;
	struct sp_profile *profiles;
	size_t profile_count;
	struct event_groups groups;
	VEC(const struct sp_event *) events; /* index: profile; belong to the readers */
	VEC(struct sp_finding) findings; /* ordered by importance after the analysis */
	VEC(struct sp_finding) notes;    /* findings that follow them, in the order of their creation */
	uint64_t first_ns, last_ns;
	uint64_t duration_ns;
	struct time_bins **time_bins; /* index: profile; NULL: not requested, or several recordings */
	struct event_timeline *timelines;   /* index: profile; NULL: not requested */
	VEC(struct sp_timeline_thread) threads; /* threads of the timelines */
};

/* State of the analysis of one recording. */
struct run {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct analysis_options options; /* options with default keys, and this recording's times */
	struct machine *machine;
	struct resolver *resolver;
	struct sideband sideband;
	struct names names;
	struct labels labels;
	struct matches matches; /* set if matches_wanted() */
	unsigned int threads;
	struct unwinding unwinding;
	struct deferred deferred;
	struct work work;
	struct worker *workers;
	size_t worker_count;
	struct sp_analysis *analysis; /* result for all recordings */
	const char *label;         /* first words of the recording's findings; NULL: there is only one
				    * recording */
	const uint16_t *number_of; /* index of each event among all recordings' events; borrowed */
	struct sp_field *fields;   /* options.rows.fields, with the numbers of this recording's events */
	size_t event_count;        /* events of the recording */
	struct sp_profile *totals; /* totals of this recording, without rows; index: event */
	uint64_t first_ns, last_ns; /* times of first and last sample; both 0: no sample has a time */
};

#endif
