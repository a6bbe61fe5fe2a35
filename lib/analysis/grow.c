/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the chains that workers found to what a tree is made of, as callers or as callees. */
#include "analysis/internal.h"
#include "base/cleanup.h"

/* Goes through one worker's chains; the words are from the root to where it is. */
struct growth {
	struct run *run;
	const struct worker *worker;
	struct merged *merged;      /* by event */
	VEC(uint64_t) words;
	VEC(uint32_t) open;         /* nodes on the way */
	VEC(uint64_t) turned;       /* scratch: a way for callees */
	uint32_t *first_leaf, *next_leaf;
	size_t fixed;               /* words at the beginning that are not turned */
	uint16_t event;
};

static void growth_deinit(struct growth *growth)
{
	vec_deinit(&growth->words);
	vec_deinit(&growth->open);
	vec_deinit(&growth->turned);
	free(growth->first_leaf);
	free(growth->next_leaf);
}

static bool hang_leaves(struct growth *growth)
{
	const struct worker *worker = growth->worker;
	size_t nodes = worker->chains.radix.count;
	growth->first_leaf = malloc((nodes + 1) * sizeof(*growth->first_leaf));
	growth->next_leaf = malloc((worker->leaves.count + 1) * sizeof(*growth->next_leaf));
	if (!growth->first_leaf || !growth->next_leaf)
		return false;
	for (size_t i = 0; i < nodes; i++)
		growth->first_leaf[i] = RADIX_NONE;
	for (uint32_t i = 0; i < worker->leaves.count; i++) {
		uint32_t node = worker->leaves.items[i].node;
		growth->next_leaf[i] = growth->first_leaf[node];
		growth->first_leaf[node] = i;
	}
	return true;
}

/* A new root: its event's tree, and the command if trees begin with those. */
static bool start(struct growth *growth, const struct radix_node *root)
{
	const struct worker_group *group = &growth->worker->groups.items[root->first >> 32];
	growth->event = group->event;
	growth->words.count = growth->fixed = 0;
	if (!growth->run->options.tree_comms)
		return true;
	uint64_t *word = vec_push(&growth->words);
	uint32_t comm = word ? merged_comm(growth->run, &growth->merged[group->event], group->comm) :
			       UINT32_MAX;
	if (comm == UINT32_MAX)
		return false;
	*word = PATHS_COMM | comm;
	growth->fixed = 1;
	return true;
}

static bool push_run(struct growth *growth, uint32_t at)
{
	const struct worker *worker = growth->worker;
	const struct radix_node *node = &worker->chains.radix.items[at];
	uint32_t *open = vec_push(&growth->open);
	if (!open || !vec_reserve(&growth->words, growth->words.count + node->length + 1))
		return false;
	*open = at;
	for (uint32_t i = node->run; i < node->run + node->length; i++)
		if (worker->functions[i] != TALLY_NONE)
			*vec_push(&growth->words) = worker->functions[i];
	return true;
}

static void pop_run(struct growth *growth)
{
	const struct worker *worker = growth->worker;
	const struct radix_node *node = &worker->chains.radix.items[*vec_last(&growth->open)];
	for (uint32_t i = node->run; i < node->run + node->length; i++)
		growth->words.count -= worker->functions[i] != TALLY_NONE;
	growth->open.count--;
}

static bool add_way(struct growth *growth, const struct leaf *leaf)
{
	struct paths *paths = &growth->merged[growth->event].paths;
	const struct names *names = &growth->run->names;
	size_t count = growth->words.count + 1;
	if (!vec_reserve(&growth->words, count) || !vec_reserve(&growth->turned, count))
		return false;
	const uint64_t *words = growth->words.items;
	growth->words.items[count - 1] = names->frames.items[leaf->answer >> LOOKUP_SHIFT].function;
	if (growth->run->options.tree == SP_TREE_CALLEE) {
		uint64_t *turned = growth->turned.items;
		for (size_t i = 0; i < count; i++)
			turned[i] = i < growth->fixed ? words[i] :
							words[count - 1 - (i - growth->fixed)];
		words = turned;
	}
	return paths_add(paths, words, count, leaf->samples, leaf->weight);
}

static bool add_node(struct growth *growth, uint32_t at)
{
	const struct radix_node *node = &growth->worker->chains.radix.items[at];
	while (growth->open.count && *vec_last(&growth->open) != node->parent)
		pop_run(growth);
	if (node->parent == RADIX_NONE && !start(growth, node))
		return false;
	if (!push_run(growth, at))
		return false;
	for (uint32_t i = growth->first_leaf[at]; i != RADIX_NONE; i = growth->next_leaf[i]) {
		const struct leaf *leaf = &growth->worker->leaves.items[i];
		if (leaf->samples && !add_way(growth, leaf))
			return false;
	}
	return true;
}

bool grow_trees(struct run *run, struct merged *merged, const struct worker *worker)
{
	struct growth growth = {.run = run, .worker = worker, .merged = merged};
	bool done = hang_leaves(&growth);
	for (size_t i = 0; done && i < worker->chains.radix.count; i++)
		done = add_node(&growth, worker->order[i]);
	growth_deinit(&growth);
	return done;
}
