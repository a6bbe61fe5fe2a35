/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call trees of all runs as one tree, and its nodes that changed. Functions are numbers of the
 * caller's: a node is identified by its parent and its function.
 */
#pragma once

#include "base/vec.h"
#include "diff/changes.h"

/* A node of one run. Parents precede their children; the first is the root. */
struct run_node {
	uint32_t parent, function;
	uint32_t merged; /* index in the compared tree */
	uint32_t passed; /* number of nodes above that this run lacks: they have its total, too */
	enum sp_level level;
	bool own_code, inlined; /* `inlined` into its parent */
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
 * Merges trees[i] of run i into a zeroed tree, with the mean weights. functions[i] is the function
 * that i counts for. compared_tree_deinit() frees the tree, also after an error.
 */
struct sp_error *compared_tree_merge(struct compared_tree *tree, const struct run_set *set,
				     struct run_tree *trees,
				     const uint32_t *functions) SP_MUST_CHECK;

/* Adds the mean weights of all nodes. */
void compared_tree_sum(struct compared_tree *tree, const struct run_set *set,
		       const struct run_tree *trees);

/* Tests the nodes of the least share. */
struct sp_error *compared_tree_test(struct compared_tree *tree, const struct run_set *set,
				    const struct run_tree *trees, double least_share) SP_MUST_CHECK;
void compared_tree_deinit(struct compared_tree *tree);
