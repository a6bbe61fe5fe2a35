/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings of an analysis: limits of its data. */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "rows/run.h"

/* Parts of an analysis that the findings of one recording need. Borrowed. */
struct analysis_view {
	const struct work *const work;   /* the recording, its options, modules and times */
	const struct names *const names; /* frames, and the resolver of their modules */
	const struct worker *const workers;
	const size_t worker_count;
	const struct sp_profile *const totals; /* index: event; totals of this recording */
	const struct sp_time_span span;  /* first to last sample; 0 to 0: none has a time */
	const char *const label;         /* path with which findings begin; NULL: none */
	struct sp_analysis *const analysis; /* gets the findings */
};

/* A kind of findings. `find` adds them; false when out of memory. */
struct finding_source {
	const char *name;
	bool (*find)(const struct analysis_view *view);
	bool in_order; /* its findings follow all others, in the order of their creation */
};

/* All kinds, those with `in_order` last. */
extern const struct finding_source finding_sources[];
extern const size_t finding_source_count;

/* Adds all findings on one recording; its totals must be known. */
struct sp_error *findings_find(const struct analysis_view *view) SP_MUST_CHECK;

/* Orders the findings on all recordings by importance. */
struct sp_error *findings_order(struct sp_analysis *analysis) SP_MUST_CHECK;

#endif
