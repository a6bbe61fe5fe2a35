/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call trees of all runs as one tree, and its nodes that changed. Functions are numbers of the
 * caller's: a node is identified by its parent and its function.
 */
#ifndef DIFF_COMPARED_TREE_H
#define DIFF_COMPARED_TREE_H

#include "base/vec.h"
#include "diff/changes.h"

/* A node of one run. Parents precede their children; the first is the root. */
struct run_node {
	uint32_t parent, function;
	uint32_t merged; /* index in the compared tree; set by compared_tree_make() */
	enum sp_level level;
	struct row_sums self, total;
};

struct run_tree {
	VEC(struct run_node); /* empty: the run has no call chains */
};

struct compared_tree {
	VEC(struct sp_diff_node) nodes; /* names are not set */
	VEC(uint32_t) functions;	/* by node */
};

/* Returns whether a row has the least share of one side, and enough samples to be tested. */
bool row_is_heavy(const struct run_set *set, const struct row_sums *sums, double least_share);

/*
 * Merges trees[i] of run i. functions[i] is the function that i counts for. Nodes of the least
 * share are tested if `tested`. The tree must be zeroed; compared_tree_deinit() frees it, also
 * after an error.
 */
struct sp_error *compared_tree_make(struct compared_tree *tree, const struct run_set *set,
				    struct run_tree *trees, const uint32_t *functions,
				    double least_share, bool tested) SP_MUST_CHECK;
void compared_tree_deinit(struct compared_tree *tree);

#endif
