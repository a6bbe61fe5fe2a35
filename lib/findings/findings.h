/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings of an analysis: the limits of its profiles. */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "aggregate/run.h"

/* Adds the findings of one subject; false when out of memory. */
struct finding_source {
	const char *name;
	bool (*find)(struct run *run);
	bool in_order; /* they follow all others, in the order in which they were added */
};

/* All sources, those with `in_order` last. */
extern const struct finding_source finding_sources[];
extern const size_t finding_source_count;

/* Adds the findings of all sources on one recording, whose totals are known. */
struct sp_error *findings_find(struct run *run) SP_MUST_CHECK;

/* Orders the findings on all recordings, most important first. */
struct sp_error *findings_order(struct sp_analysis *analysis) SP_MUST_CHECK;

#endif
