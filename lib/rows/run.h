/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Result of an analysis, and its state while it runs. */
#ifndef ROWS_RUN_H
#define ROWS_RUN_H

#include "base/strtab.h"
#include "frames/matches.h"
#include "frames/names.h"
#include "profile/cells.h"
#include "profile/analysis_options.h"
#include "profile/profile.h"
#include "rows/event_groups.h"
#include "rows/make_rows.h"
#include "sideband/sideband.h"
#include "stacks/dump_unwind.h"
#include "times/times.h"

/* One event's timeline. */
struct event_timeline {
	struct sp_timeline shown;
	VEC(struct sp_timeline_node) nodes;
	struct u64map index_of; /* a tree node's address -> its index in nodes */
	struct cells cells;
	struct timeline_losses losses;
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
	VEC(const struct sp_event *) events; /* events of the profiles, by profile; the readers own them */
	VEC(struct sp_finding) findings; /* ordered by importance when the analysis is done */
	VEC(struct sp_finding) notes;    /* the recorder's notes, which follow the findings, in the order of
					  * their creation */
	uint64_t first_ns, last_ns;
	uint64_t duration_ns;
	struct time_bins **time_bins; /* by profile; NULL: not requested, or there are several recordings */
	struct event_timeline *timelines; /* by profile; NULL: not requested */
	VEC(struct sp_timeline_thread) threads; /* threads of the timelines */
	struct task_states *states;   /* for sp_analysis_state_times(); NULL: there are none */
};

/* State of the analysis of one recording. */
struct run {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct analysis_options options; /* copied options, with the default keys and the times of this
					  * recording's --time */
	struct machine *machine;
	struct resolver *resolver;
	struct sideband sideband;
	struct names names;
	struct labels labels;
	struct matches matches; /* set if matches_wanted() */
	unsigned int threads;
	struct unwinding unwinding;
	struct deferred deferred;
	struct times times;
	struct work work;
	struct worker *workers;
	size_t worker_count;
	struct sp_analysis *analysis; /* result, to which all recordings are added */
	const char *label;         /* path of the recording, with which its findings begin; NULL: there is
				    * only one recording */
	const uint16_t *number_of; /* index: event of this recording; value: its number among all
				    * recordings' events; borrowed */
	struct sp_field *fields;   /* copy of options.rows.fields; their event is a number of this
				    * recording's events */
	size_t event_count;        /* events of the recording */
	struct sp_profile *totals; /* index: event; totals of this recording, without rows */
	uint64_t first_ns, last_ns; /* times of first and last sample; both 0: no sample has a time */
};

/* Returns the name that a thread has in rows: that of its pool, if they are requested. */
static inline const char *run_comm(const struct run *run, const char *comm)
{
	bool pools = run->options.rows.pools && !run->work.keys->rows[SP_KEY_TID];
	return (pools ? machine_pool(run->machine, comm) : NULL) ?: comm;
}

#endif
