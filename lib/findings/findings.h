/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings of an analysis: limits of its data. */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "rows/run.h"

/* A kind of findings. `find` adds them; false when out of memory. */
struct finding_source {
	const char *name;
	bool (*find)(struct run *run);
	bool in_order; /* its findings follow all others, in the order of their creation */
};

/* All kinds, those with `in_order` last. */
extern const struct finding_source finding_sources[];
extern const size_t finding_source_count;

/* Adds all findings on one recording; its totals must be known. */
struct sp_error *findings_find(struct run *run) SP_MUST_CHECK;

/* Orders the findings on all recordings by importance. */
struct sp_error *findings_order(struct sp_analysis *analysis) SP_MUST_CHECK;

#endif
