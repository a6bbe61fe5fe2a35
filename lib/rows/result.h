/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Result of an analysis. */
#pragma once

#include "base/strtab.h"
#include "profile/cells.h"
#include "profile/profile.h"
#include "rows/event_groups.h"
#include "samples/time_bins.h"
#include "states/task_states.h"

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
	VEC(const struct sp_event *) events; /* by profile; the readers own them */
	VEC(struct sp_finding) findings; /* ordered by importance when the analysis is done */
	bool lacks_findings;             /* memory ran out for some */
	VEC(struct sp_finding) notes;    /* the recorder's notes, which follow the findings, in
					  * the order of their creation */
	uint64_t first_ns, last_ns;
	uint64_t duration_ns;
	struct time_bins **time_bins; /* by profile; NULL: not requested, or several recordings */
	struct event_timeline *timelines; /* by profile; NULL: not requested */
	VEC(struct sp_timeline_thread) threads; /* threads of the timelines */
	VEC(struct pass_one_result *) files; /* files of each recording, for annotations */
	struct task_states *states;   /* for sp_analysis_state_times(); NULL: there are none */
};
