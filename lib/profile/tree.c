/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call tree, as callers or as callees. First it is interned once more, with
 * the groups gone (or reduced to their commands) and, for callees, turned around;
 * then laid out so that the children of a node lie side by side.
 */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"

/* A tree whose one root is node 0; below it commands, if asked for, then functions. */
struct turned {
	struct stacks stacks;
	struct u64map comm_index; /* a comm's address -> its index */
	VEC(const char *) comms;
};

static void turned_deinit(struct turned *turned)
{
	stacks_deinit(&turned->stacks);
	u64map_deinit(&turned->comm_index);
	vec_deinit(&turned->comms);
}

/* Where a group's chains begin; STACK_NONE when out of memory. */
static uint32_t start_of(struct turned *turned, const struct profile_source *source,
			 uint32_t group)
{
	bool added;
	if (!source->tree_comms)
		return 0;
	const char *comm = source->groups[group].comm;
	if (!vec_reserve(&turned->comms, turned->comms.count + 1))
		return STACK_NONE;
	const uint32_t *index = u64map_put(&turned->comm_index, (uintptr_t)comm,
					   (uint32_t)turned->comms.count, &added);
	if (!index)
		return STACK_NONE;
	if (added)
		*vec_push(&turned->comms) = comm;
	return stacks_child(&turned->stacks, 0, *index);
}

static bool turn_callers(struct turned *turned, const struct profile_source *source)
{
	const struct stacks *from = source->stacks;
	CLEANUP_FREE uint32_t *to = calloc(from->count + 1, sizeof(*to));
	if (!to)
		return false;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct stack_node *node = &from->items[i];
		to[i] = node->parent == STACK_NONE ?
				start_of(turned, source, node->id) :
				stacks_child(&turned->stacks, to[node->parent], node->id);
		if (to[i] == STACK_NONE)
			return false;
		if (node->samples)
			stacks_add(&turned->stacks, to[i], node->samples, node->weight);
	}
	return true;
}

static bool turn_callees(struct turned *turned, const struct profile_source *source)
{
	const struct stacks *from = source->stacks;
	CLEANUP_FREE uint32_t *root = calloc(from->count + 1, sizeof(*root));
	if (!root)
		return false;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct stack_node *node = &from->items[i];
		root[i] = node->parent == STACK_NONE ? node->id : root[node->parent];
		if (!node->samples)
			continue;
		uint32_t at = start_of(turned, source, root[i]);
		for (; at != STACK_NONE && node->parent != STACK_NONE;
		     node = &from->items[node->parent])
			at = stacks_child(&turned->stacks, at, node->id);
		if (at == STACK_NONE)
			return false;
		stacks_add(&turned->stacks, at, from->items[i].samples, from->items[i].weight);
	}
	return true;
}

static void name_node(const struct turned *turned, const struct profile_source *source,
		      uint32_t index, struct sp_tree_node *node)
{
	const struct stack_node *from = &turned->stacks.items[index];
	if (source->tree_comms && from->parent == 0) {
		node->symbol = turned->comms.items[from->id];
		node->symbol_known = true;
		return;
	}
	const struct function *function = &source->functions->items[from->id];
	node->symbol = function->symbol;
	node->dso = function->dso;
	node->symbol_known = function->known;
	node->level = function->level;
	node->address = function->start;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct sp_tree_node *x = a, *y = b;
	if (x->total.weight != y->total.weight)
		return x->total.weight > y->total.weight ? -1 : 1;
	if (x->total.samples != y->total.samples)
		return x->total.samples > y->total.samples ? -1 : 1;
	int order = strcmp(x->symbol, y->symbol);
	if (!order && x->dso && y->dso)
		order = strcmp(x->dso, y->dso);
	if (!order && x->address != y->address)
		order = x->address < y->address ? -1 : 1;
	return order ? order : (int)x->level - (int)y->level;
}

struct sums {
	uint64_t samples, weight;
	uint32_t child_count, first; /* place of the first child */
};

/* Sums up from the leaves, and gives each node's children their places. */
static void lay_out(const struct stacks *stacks, struct sums *sums)
{
	for (size_t i = 0; i < stacks->count; i++)
		sums[i] = (struct sums){stacks->items[i].samples, stacks->items[i].weight, 0, 0};
	for (size_t i = stacks->count; i-- > 1;) {
		struct sums *parent = &sums[stacks->items[i].parent];
		parent->samples = weight_add(parent->samples, sums[i].samples);
		parent->weight = weight_add(parent->weight, sums[i].weight);
		parent->child_count++;
	}
	uint32_t place = 1;
	for (size_t i = 0; i < stacks->count; i++) {
		sums[i].first = place;
		place += sums[i].child_count;
	}
}

static bool build(const struct turned *turned, const struct profile_source *source,
		  struct arena *arena, struct sp_profile *profile)
{
	const struct stacks *stacks = &turned->stacks;
	double n_eff = weight_sums_effective(&source->whole);
	CLEANUP_FREE struct sums *sums = calloc(stacks->count, sizeof(*sums));
	CLEANUP_FREE uint32_t *filled = calloc(stacks->count, sizeof(*filled));
	struct sp_tree_node *nodes = NULL;
	if (stacks->count < SIZE_MAX / sizeof(*nodes))
		nodes = arena_alloc(arena, stacks->count * sizeof(*nodes));
	if (!sums || !filled || !nodes)
		return false;
	lay_out(stacks, sums);
	for (uint32_t i = 0; i < stacks->count; i++) {
		const struct stack_node *from = &stacks->items[i];
		struct sp_tree_node *node = nodes;
		if (i) {
			node += sums[from->parent].first + filled[from->parent]++;
			name_node(turned, source, i, node);
		}
		node->self = (struct sp_weight){from->samples, from->weight,
			interval_share(from->weight, source->whole.weight, n_eff)};
		node->total = (struct sp_weight){sums[i].samples, sums[i].weight,
			interval_share(sums[i].weight, source->whole.weight, n_eff)};
		node->child_count = sums[i].child_count;
		node->children = node->child_count ? nodes + sums[i].first : NULL;
	}
	for (uint32_t i = 0; i < stacks->count; i++)
		if (sums[i].child_count > 1)
			qsort(nodes + sums[i].first, sums[i].child_count, sizeof(*nodes),
			      compare_nodes);
	profile->tree = nodes;
	return true;
}

bool profile_tree(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile)
{
	struct turned turned = {0};
	bool done = stacks_child(&turned.stacks, STACK_NONE, 0) != STACK_NONE;
	if (done && source->tree == SP_TREE_CALLEE)
		done = turn_callees(&turned, source);
	else if (done)
		done = turn_callers(&turned, source);
	done = done && build(&turned, source, arena, profile);
	turned_deinit(&turned);
	return done;
}
