/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings of an analysis: limits of its data. */
#pragma once

#include "rows/merged.h"

/* Parts of an analysis that the findings of one recording need. Borrowed. */
struct analysis_view {
	const struct pass_one_result *const read;
	const struct record_layout *const layout; /* events of the recording */
	const struct work *const work;            /* its options, labels and times */
	const struct names *const names;          /* frames */
	const struct workers *const workers;
	const struct merged_recording *const recording;
	struct sp_analysis *const analysis; /* gets the findings */
};

static inline const struct perf_event_attr *view_attr(const struct analysis_view *view,
						      size_t event)
{
	return &view->layout->events[event].attr;
}

/* A kind of findings, which `find` adds. */
struct finding_source {
	const char *name;
	void (*find)(const struct analysis_view *view);
	bool in_order; /* its findings follow all others, in the order of their creation */
};

/* All kinds, those with `in_order` last. */
extern const struct finding_source finding_sources[];
extern const size_t finding_source_count;

/* Adds all findings on one recording; its totals must be known. */
struct sp_error *findings_find(const struct analysis_view *view) SP_MUST_CHECK;

/* Orders the findings on all recordings by importance. */
struct sp_error *findings_order(struct sp_analysis *analysis) SP_MUST_CHECK;
