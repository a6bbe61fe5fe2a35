/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 3: one worker's rows, by walking its resolved chains as a tree. */
#ifndef AGGREGATE_MAKE_ROWS_H
#define AGGREGATE_MAKE_ROWS_H

#include "aggregate/resolve_chains.h"
#include "profile/tally.h"

/* Rows of one worker. A zeroed one may be released. */
struct summed {
	struct groups groups;   /* by the keys of rows alone */
	struct details details; /* values of the groups; functions in place of frames */
	struct tallies tallies; /* sums by group and function */
};

/*
 * Sums the samples of the resolved chains as rows, when all frames have labels. Leaves that the
 * filters by function reject lose their samples. *summed is zeroed; to be released after a
 * failure, too.
 */
struct sp_error *rows_make(const struct resolved *resolved, struct summed *summed) SP_MUST_CHECK;
void summed_deinit(struct summed *summed);

#endif
