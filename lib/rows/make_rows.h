/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Phase 3 of the analysis: makes a worker's rows, by walking its resolved chains as a tree. */
#pragma once

#include "profile/tally.h"
#include "rows/resolve_chains.h"

/* Rows of one worker. A zeroed struct may be deinitialised. */
struct summed {
	struct groups groups;   /* groups of samples, distinguished only by keys of rows */
	struct details details; /* values of the groups; they refer to functions, not to frames */
	struct tallies tallies; /* sums for each group and function: the rows */
};

/*
 * Makes rows of the resolved chains. Frames must have labels. Drops the samples that filters by
 * function reject. *summed must be zeroed before, and deinitialised after a failure, too.
 */
struct sp_error *rows_make(const struct resolved *resolved, struct summed *summed) SP_MUST_CHECK;

/* Returns whether filters choose code, which time without samples has none of. */
bool rows_filter_code(const struct analysis_options *options);

/* Returns whether memory was missing: the rows are not complete. */
static inline bool summed_failed(const struct summed *summed)
{
	return summed->groups.failed || summed->details.failed || summed->tallies.failed;
}

void summed_deinit(struct summed *summed);

/*
 * One thread's part of an analysis: its result of each phase. Workers share only constants; their
 * results are merged afterwards (merged.h).
 */
struct worker {
	struct counted counted;
	struct resolved resolved; /* set when all samples are counted */
	struct summed summed;     /* set when frames have labels */
};

/* Workers of one recording. */
struct workers {
	const struct work *work;
	struct worker *items;
	size_t count;
};

void workers_deinit(struct workers *workers);

/* A leaf of any worker. Zeroed: before the first one. */
struct worker_leaf {
	const struct leaf *leaf;
	const struct worker *worker;
	size_t next_worker, next_leaf;
};

/* Moves to the next leaf of all workers. Returns false if there are no more. */
bool workers_next_leaf(const struct workers *workers, struct worker_leaf *at);
