/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The result of an analysis, and the state while it runs. */
#ifndef AGGREGATE_RUN_H
#define AGGREGATE_RUN_H

#include <sprof/analysis.h>
#include "aggregate/event_groups.h"
#include "aggregate/matches.h"
#include "aggregate/names.h"
#include "aggregate/worker.h"
#include "base/strtab.h"
#include "profile/profile.h"
#include "sideband/dump_unwind.h"
#include "sideband/sideband.h"

/* The result; owns all that it hands out. */
struct sp_analysis {
	struct functions functions; /* functions of rows; owner of all texts */
	struct functions nodes;     /* functions of tree nodes */
	struct srcfiles row_files, node_files;
	struct strtab strings;
	struct arena arena;
	struct sp_profile *profiles;
	size_t profile_count;
	struct event_groups groups;
	VEC(struct sp_finding) findings;
	uint64_t first_ns, last_ns;
	struct time_bins **time_bins; /* by event; NULL: not requested */
	size_t event_count;           /* length of time_bins */
};

/* State of a running analysis. */
struct run {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_analysis_options options; /* keys filled in */
	struct machine *machine;
	struct resolver *resolver;
	struct sideband sideband;
	struct names names;
	struct labels labels;
	struct matches matches; /* if matches_wanted() */
	unsigned int threads;
	struct unwinding unwinding;
	struct deferred deferred;
	struct work work;
	struct worker *workers;
	size_t worker_count;
	struct sp_analysis *analysis; /* the result */
};

#endif
