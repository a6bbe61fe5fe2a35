/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "diff/passed_calls.h"

#include <math.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/error.h"

/* A node is of one side if the other one has less than this part of its weight. */
#define OTHER_PART 0.02

/* Most frames that a call passes. */
#define PASSED_MOST 3

/* Sides of a node. */
enum { BOTH, BASE_ONLY, NEW_ONLY };

/* Links between the tree's nodes by index. 0 ends a list: the root is no child. */
struct node_links {
	struct compared_tree *tree;
	uint32_t *first, *next; /* children */
	uint32_t *into;		/* node that it is united with; itself: none */
	uint32_t *passed;	/* number of frames that it passes */
	uint8_t *sides;		/* 0 for light nodes */
};

static uint8_t side_of(const struct sp_diff_node *node, const double whole[2], double least_share)
{
	if (fmax(node->base / fmax(whole[0], 1e-300), node->now / fmax(whole[1], 1e-300)) <
	    least_share)
		return BOTH;
	return node->now <= OTHER_PART * node->base   ? BASE_ONLY
	       : node->base <= OTHER_PART * node->now ? NEW_ONLY
						      : BOTH;
}

static uint32_t function_at(const struct node_links *links, uint32_t node)
{
	return links->tree->functions.items[node];
}

static uint32_t find_child(const struct node_links *links, uint32_t parent, uint32_t function)
{
	uint32_t child = links->first[parent];
	while (child && function_at(links, child) != function)
		child = links->next[child];
	return child;
}

/*
 * Returns the same function's call by the other side below a frame, and the number of frames up to
 * it; 0: there is none.
 */
static uint32_t find_below(const struct node_links *links, uint32_t frame, uint32_t call,
			   uint32_t depth, uint32_t *depth_ret)
{
	uint32_t found = find_child(links, frame, function_at(links, call));
	if (found && links->sides[found] + links->sides[call] == BASE_ONLY + NEW_ONLY) {
		*depth_ret = depth;
		return found;
	}
	found = 0;
	for (uint32_t child = links->first[frame]; child && !found && depth < PASSED_MOST;
	     child = links->next[child])
		found = find_below(links, child, call, depth + 1, depth_ret);
	return found;
}

/* Unites a node and its subtree with another one. `pairs` has room for two numbers per node. */
static void unite(struct node_links *links, uint32_t node, uint32_t with, uint32_t *pairs)
{
	size_t count = 0;
	pairs[count++] = node;
	pairs[count++] = with;
	while (count) {
		uint32_t to = pairs[--count], from = pairs[--count];
		links->into[from] = to;
		links->sides[to] = BOTH;
		for (uint32_t child = links->first[from], next; child; child = next) {
			uint32_t same = find_child(links, to, function_at(links, child));
			next = links->next[child];
			if (same) {
				pairs[count++] = child;
				pairs[count++] = same;
			} else {
				links->next[child] = links->first[to];
				links->first[to] = child;
			}
		}
	}
}

/* Matches the calls of one node. Returns whether there are any. */
static bool match_calls(struct node_links *links, uint32_t node, uint32_t *pairs)
{
	bool matched = false;
	for (uint32_t *at = &links->first[node]; *at;) {
		uint32_t call = *at, found = 0, passed = 0;
		for (uint32_t frame = links->sides[call] ? links->first[node] : 0; frame && !found;
		     frame = links->next[frame])
			found = frame == call ? 0 : find_below(links, frame, call, 1, &passed);
		if (!found) {
			at = &links->next[call];
			continue;
		}
		*at = links->next[call];
		links->passed[call] = passed;
		unite(links, call, found, pairs);
		matched = true;
	}
	return matched;
}

/* Makes a tree of the linked nodes, parents first. `new_of` is set by old index. */
static struct sp_error *renumber(struct node_links *links, uint32_t *stack, uint32_t *new_of)
{
	struct compared_tree made = {0}, *tree = links->tree;
	size_t open = 1;
	stack[0] = 0;
	while (open) {
		uint32_t at = stack[--open];
		struct sp_diff_node *node = vec_push(&made.nodes);
		uint32_t *function = node ? vec_push(&made.functions) : NULL;
		if (!function) {
			compared_tree_deinit(&made);
			return error_no_memory();
		}
		/* The parent's new index is in new_of[] of its children until these are added. */
		*node = (struct sp_diff_node){.parent = new_of[at],
					      .level = tree->nodes.items[at].level,
					      .own_code = tree->nodes.items[at].own_code};
		*function = function_at(links, at);
		new_of[at] = made.nodes.count - 1;
		for (uint32_t child = links->first[at]; child; child = links->next[child]) {
			new_of[child] = new_of[at];
			stack[open++] = child;
		}
	}
	compared_tree_deinit(tree);
	*tree = made;
	return NULL;
}

struct sp_error *passed_calls_match(struct compared_tree *tree, const struct run_set *set,
				    struct run_tree *trees, double least_share)
{
	size_t count = tree->nodes.count, open = 0;
	const struct sp_diff_node *nodes = tree->nodes.items;
	CLEANUP_FREE uint32_t *first = calloc(count + 1, sizeof(*first));
	CLEANUP_FREE uint32_t *next = calloc(count + 1, sizeof(*next));
	CLEANUP_FREE uint32_t *into = calloc(count + 1, sizeof(*into));
	CLEANUP_FREE uint32_t *passed = calloc(count + 1, sizeof(*passed));
	CLEANUP_FREE uint8_t *sides = calloc(count + 1, sizeof(*sides));
	CLEANUP_FREE uint32_t *stack = calloc(count + 1, sizeof(*stack));
	CLEANUP_FREE uint32_t *pairs = calloc(count + 1, 2 * sizeof(*pairs));
	NEED(first && next && into && passed && sides && stack && pairs);
	struct node_links links = {tree, first, next, into, passed, sides};
	bool changed = false;
	for (uint32_t i = 0; i < count; i++) {
		const double whole[2] = {nodes[0].base, nodes[0].now};
		into[i] = i;
		sides[i] = i ? side_of(&nodes[i], whole, least_share) : BOTH;
	}
	for (size_t i = count; i-- > 1;) {
		next[i] = first[nodes[i].parent];
		first[nodes[i].parent] = i;
	}
	if (count)
		stack[open++] = 0;
	while (open) {
		uint32_t node = stack[--open];
		changed |= match_calls(&links, node, pairs);
		for (uint32_t child = first[node]; child; child = next[child])
			stack[open++] = child;
	}
	if (!changed)
		return NULL;
	uint32_t *new_of = pairs; /* no longer used */
	new_of[0] = 0;
	TRY(renumber(&links, stack, new_of));
	for (size_t i = 0; i < set->count; i++)
		vec_each (node, &trees[i]) {
			uint32_t at = node->merged;
			node->passed = passed[at];
			while (into[at] != at)
				at = into[at];
			node->merged = new_of[at];
		}
	compared_tree_sum(tree, set, trees);
	return NULL;
}
