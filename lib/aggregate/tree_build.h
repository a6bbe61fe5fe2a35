/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of the call trees, from resolved chains. */
#ifndef AGGREGATE_TREE_BUILD_H
#define AGGREGATE_TREE_BUILD_H

#include "aggregate/run.h"

/* One event's results of all workers, merged. */
struct merged {
	struct tallies tallies;
	struct groups groups;     /* groups of the tallies */
	struct details details;   /* values of the groups */
	VEC(struct replicate_sums) replicates; /* by tally, if ratios are requested */
	struct paths paths;
	VEC(const char *) texts;  /* texts of the paths */
	struct u64map text_of;    /* its address -> index */
};

/* Adds one worker's chains to the paths of their events; false when out of memory. */
bool trees_build(struct run *run, struct merged *merged, const struct resolved *resolved);

#endif
