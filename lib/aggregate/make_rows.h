/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 3: one worker's rows, by walking its resolved chains as a tree. */
#ifndef AGGREGATE_MAKE_ROWS_H
#define AGGREGATE_MAKE_ROWS_H

#include "aggregate/resolve_chains.h"
#include "profile/tally.h"

/* Rows of one worker. A zeroed struct may be deinitialised. */
struct summed {
	struct groups groups;   /* groups, distinguished by the keys of rows only */
	struct details details; /* values of the groups; functions replace frames */
	struct tallies tallies; /* sums by group and function */
};

/*
 * Makes rows of the resolved chains, after frames have labels. Samples of leaves that filters by
 * function reject are dropped. *summed is zeroed before, and must be deinitialised after a failure,
 * too.
 */
struct sp_error *rows_make(const struct resolved *resolved, struct summed *summed) SP_MUST_CHECK;
void summed_deinit(struct summed *summed);

#endif
