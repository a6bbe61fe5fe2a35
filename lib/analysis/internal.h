/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of an analysis share. */
#ifndef ANALYSIS_INTERNAL_H
#define ANALYSIS_INTERNAL_H

#include <sprof/analysis.h>
#include "analysis/names.h"
#include "analysis/sideband.h"
#include "analysis/worker.h"
#include "base/strtab.h"
#include "profile/profile.h"

/* The result; owns all that it hands out. */
struct sp_analysis {
	struct functions functions;
	struct strtab strings;
	struct arena arena;
	struct sp_profile *profiles;
	size_t profile_count;
	VEC(struct sp_finding) findings;
	uint64_t first_ns, last_ns;
};

/* What is there while it runs. */
struct run {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_analysis_options options; /* keys filled in */
	struct machine *machine;
	struct resolver *resolver;
	struct sideband sideband;
	struct names names;
	struct work work;
	struct worker *workers;
	size_t worker_count;
	struct sp_analysis *analysis; /* what it makes */
};

/* Puts together what the workers found, as profiles. */
struct sp_error *finish_profiles(struct run *run) SP_MUST_CHECK;

/* Says what the data is worth; after finish_profiles(). */
struct sp_error *finish_findings(struct run *run) SP_MUST_CHECK;

#endif
