/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the chains that workers found to what a tree is made of, as callers or as callees.
 * A stack whose outer calls are missing begins with a word that says why, so that it is
 * not taken for a root of its own.
 */
#include <stdio.h>
#include "analysis/internal.h"
#include "base/cleanup.h"

/* Room before the calls of a way: its command, and how its stack was cut. */
#define PREFIX 2

/* Goes through one worker's chains; the words are from the root to where it is. */
struct growth {
	struct run *run;
	const struct worker *worker;
	struct merged *merged;      /* by event */
	VEC(uint64_t) words;        /* behind PREFIX of them */
	VEC(uint32_t) open;         /* nodes on the way */
	VEC(uint64_t) turned;       /* scratch: a way for callees */
	uint32_t *first_leaf, *next_leaf;
	uint64_t comm;              /* the word of the command, where trees begin with those */
	uint16_t event;
	/* The word of the stack end last asked for: mostly it is the same. */
	struct { bool known; uint16_t event; enum sp_stack_end end; const char *module; uint64_t word; } cut;
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
	if (!vec_reserve(&growth->words, PREFIX))
		return false;
	growth->words.count = PREFIX;
	if (!growth->run->options.tree_comms)
		return true;
	uint32_t comm = merged_text(growth->run, &growth->merged[group->event], group->comm);
	growth->comm = PATHS_COMM | comm;
	return comm != UINT32_MAX;
}

/* Where calls are missing in the middle of stacks; UINT64_MAX when out of memory. */
static uint64_t gap_word(struct growth *growth)
{
	uint32_t text = merged_text(growth->run, &growth->merged[growth->event],
				    "[frames left out]");
	return text == UINT32_MAX ? UINT64_MAX : PATHS_CUT | text;
}

/* Why the outer calls of a stack are missing; `module` is of the outermost one. */
static void describe_end(enum sp_stack_end end, const char *module, char *text, size_t size)
{
	switch (end) {
	case SP_STACK_NO_UNWIND_INFO:
		snprintf(text, size, "[stack cut: no unwind information for %s]", module);
		break;
	case SP_STACK_BAD_MEMORY:
		snprintf(text, size, "[stack cut: unreadable memory]");
		break;
	case SP_STACK_DEPTH_LIMIT:
		snprintf(text, size, "[stack cut: depth limit]");
		break;
	case SP_STACK_SKIPPED:
		snprintf(text, size, "[stack left out under pressure]");
		break;
	default:
		snprintf(text, size, "[truncated stacks]");
		break;
	}
}

/* The dso of a stack's outermost call. */
static const char *outermost_dso(const struct growth *growth, const struct leaf *leaf)
{
	const struct node_state *state = &growth->worker->states[leaf->node];
	uint32_t function = state->depth ?
				    state->first >> LOOKUP_SHIFT :
				    growth->run->names.frames.items[leaf->answer >> LOOKUP_SHIFT].function;
	return growth->run->analysis->functions.items[function].dso;
}

/* UINT64_MAX when out of memory. */
static uint64_t cut_word(struct growth *growth, enum sp_stack_end end, const struct leaf *leaf)
{
	const char *module = NULL;
	char text[300];
	if (end == SP_STACK_NO_UNWIND_INFO)
		module = outermost_dso(growth, leaf);
	if (growth->cut.known && growth->cut.event == growth->event && growth->cut.end == end &&
	    growth->cut.module == module)
		return growth->cut.word;
	describe_end(end, module, text, sizeof(text));
	uint32_t index = merged_text(growth->run, &growth->merged[growth->event], text);
	if (index == UINT32_MAX)
		return UINT64_MAX;
	growth->cut = (__typeof__(growth->cut)){true, growth->event, end, module, PATHS_CUT | index};
	return growth->cut.word;
}

static bool push_run(struct growth *growth, uint32_t at)
{
	const struct worker *worker = growth->worker;
	const struct radix_node *node = &worker->chains.radix.items[at];
	uint32_t *open = vec_push(&growth->open);
	if (!open || !vec_reserve(&growth->words, growth->words.count + node->length + 1))
		return false;
	*open = at;
	for (uint32_t i = node->run; i < node->run + node->length; i++) {
		if (worker->functions[i] == TALLY_NONE)
			continue;
		uint64_t word = worker->functions[i] == WORD_GAP ? gap_word(growth) :
								   worker->functions[i];
		if (word == UINT64_MAX)
			return false;
		*vec_push(&growth->words) = word;
	}
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

/*
 * Puts what comes before the calls in front of them; returns how much of the prefix is
 * left free, or PREFIX + 1 when out of memory.
 */
static size_t put_prefix(struct growth *growth, const struct leaf *leaf)
{
	enum sp_stack_end end = leaf->chains ? worker_stack_end(growth->worker, leaf) :
					       SP_STACK_NONE;
	size_t begin = PREFIX;
	if (end != SP_STACK_COMPLETE && end != SP_STACK_NONE) {
		growth->words.items[--begin] = cut_word(growth, end, leaf);
		if (growth->words.items[begin] == UINT64_MAX)
			return PREFIX + 1;
	}
	if (growth->run->options.tree_comms)
		growth->words.items[--begin] = growth->comm;
	return begin;
}

static bool add_way(struct growth *growth, const struct leaf *leaf)
{
	struct paths *paths = &growth->merged[growth->event].paths;
	const struct names *names = &growth->run->names;
	size_t end = growth->words.count + 1;
	if (!vec_reserve(&growth->words, end) || !vec_reserve(&growth->turned, end))
		return false;
	size_t begin = put_prefix(growth, leaf);
	if (begin > PREFIX)
		return false;
	growth->words.items[end - 1] = names->frames.items[leaf->answer >> LOOKUP_SHIFT].function;
	const uint64_t *words = growth->words.items + begin;
	size_t count = end - begin, fixed = growth->run->options.tree_comms;
	if (growth->run->options.tree == SP_TREE_CALLEE) {
		uint64_t *turned = growth->turned.items;
		for (size_t i = 0; i < count; i++)
			turned[i] = i < fixed ? words[i] : words[count - 1 - (i - fixed)];
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
