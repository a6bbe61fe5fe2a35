/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "diff/compared_tree.h"

#include <math.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"

/* Samples of a row below which it is not tested, if both sides have fewer in all runs. */
#define LEAST_SAMPLES 10

/* Part of a node's change from which found changes of its callees explain it. */
#define EXPLAINED 0.5

#define NOT_TESTED UINT32_MAX

void compared_tree_deinit(struct compared_tree *tree)
{
	vec_deinit(&tree->nodes);
	vec_deinit(&tree->functions);
}

bool row_is_heavy(const struct run_set *set, const struct row_sums *sums, double least_share)
{
	double shares[2] = {0, 0}, samples = 0;
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		size_t side = run->side == SP_DIFF_NEW;
		double share = run->weight > 0 ? sums[i].weight / run->weight : 0;
		shares[side] += share / (double)set->side_counts[side];
		samples += sums[i].samples;
	}
	return fmax(shares[0], shares[1]) >= least_share && samples >= LEAST_SAMPLES;
}

void compared_tree_sum(struct compared_tree *tree, const struct run_set *set,
		       const struct run_tree *trees)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct run_size *run = &set->runs[i];
		double number = set->side_counts[run->side == SP_DIFF_NEW];
		if (set->by_share)
			number *= run->weight > 0 ? run->weight : 1;
		vec_each (from, &trees[i]) {
			struct sp_diff_node *node = &tree->nodes.items[from->merged];
			bool is_new = run->side == SP_DIFF_NEW;
			*(is_new ? &node->now_self : &node->base_self) +=
				from->self.weight / number;
			for (uint32_t k = 0; k <= from->passed; k++) {
				*(is_new ? &node->now : &node->base) += from->total.weight / number;
				node = &tree->nodes.items[node->parent];
			}
		}
	}
}

struct sp_error *compared_tree_merge(struct compared_tree *tree, const struct run_set *set,
				     struct run_tree *trees, const uint32_t *functions)
{
	struct u64map children = {0}; /* (parent, function) -> node */
	bool done = true;
	for (size_t i = 0; done && i < set->count; i++) {
		struct run_node *nodes = trees[i].items;
		for (size_t j = 0; done && j < trees[i].count; j++) {
			/* The root has no function, and is the child of none. */
			uint32_t function = j ? functions[nodes[j].function] : UINT32_MAX;
			uint32_t parent = j ? nodes[nodes[j].parent].merged : 0;
			bool added = false;
			const uint32_t *found = u64map_put(&children, key_of_pair(parent, function),
							   tree->nodes.count, &added);
			struct sp_diff_node *node = added ? vec_push(&tree->nodes) : NULL;
			uint32_t *name = node ? vec_push(&tree->functions) : NULL;
			done = found && (!added || name);
			if (name) {
				*node = (struct sp_diff_node){.parent = parent,
							      .level = nodes[j].level,
							      .own_code = nodes[j].own_code};
				*name = function;
			}
			nodes[j].merged = done ? *found : 0;
			nodes[j].passed = 0;
		}
	}
	u64map_deinit(&children);
	NEED(done);
	compared_tree_sum(tree, set, trees);
	return NULL;
}

/*
 * Marks nodes with a found change that the found changes below do not explain. `explained` has a
 * zeroed number for each node.
 */
static void find_deepest(struct compared_tree *tree, double *explained)
{
	for (size_t i = tree->nodes.count; i-- > 1;) {
		struct sp_diff_node *node = &tree->nodes.items[i];
		double difference = node->now - node->base, below = explained[i];
		if (change_is_found(&node->change)) {
			bool same_sign = below * difference > 0;
			node->is_deepest = !same_sign || fabs(below) < EXPLAINED * fabs(difference);
			explained[i] = difference;
		}
		explained[node->parent] += explained[i];
	}
}

struct sp_error *compared_tree_test(struct compared_tree *tree, const struct run_set *set,
				    const struct run_tree *trees, double least_share)
{
	size_t count = tree->nodes.count, heavy = 0, left = 0;
	if (!count)
		return NULL;
	double whole[2] = {tree->nodes.items[0].base, tree->nodes.items[0].now};
	CLEANUP_FREE uint32_t *numbers = calloc(count, sizeof(*numbers));
	CLEANUP_FREE double *explained = calloc(count, sizeof(*explained));
	NEED(numbers && explained);
	for (size_t i = 0; i < count; i++) {
		const struct sp_diff_node *node = &tree->nodes.items[i];
		bool is_heavy = i && (node->base >= least_share * whole[0] ||
				      node->now >= least_share * whole[1]);
		numbers[i] = is_heavy ? (uint32_t)heavy++ : NOT_TESTED;
	}
	CLEANUP_FREE struct row_sums *sums = calloc(heavy * set->count + 1, sizeof(*sums));
	CLEANUP_FREE struct measured_row *measured = calloc(heavy + 1, sizeof(*measured));
	CLEANUP_FREE struct sp_change *changes = calloc(heavy + 1, sizeof(*changes));
	NEED(sums && measured && changes);
	for (size_t i = 0; i < set->count; i++)
		vec_each (node, &trees[i]) {
			size_t at = node->merged;
			for (uint32_t k = 0; k <= node->passed; k++) {
				if (numbers[at] != NOT_TESTED) {
					struct row_sums *to = &sums[numbers[at] * set->count + i];
					to->weight += node->total.weight;
					to->samples += node->total.samples;
				}
				at = tree->nodes.items[at].parent;
			}
		}
	for (size_t i = 0; i < count; i++) {
		const struct row_sums *row = sums + (size_t)numbers[i] * set->count;
		if (numbers[i] == NOT_TESTED)
			continue;
		numbers[i] = row_is_heavy(set, row, least_share) ? (uint32_t)left : NOT_TESTED;
		if (numbers[i] != NOT_TESTED)
			measured[left++] = measure(set, row);
	}
	TRY(changes_test(set, measured, left, changes));
	for (size_t i = 0; i < count; i++)
		if (numbers[i] != NOT_TESTED)
			tree->nodes.items[i].change = changes[numbers[i]];
	find_deepest(tree, explained);
	return NULL;
}
