/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a worker makes of its samples when it has them all: first each word of its
 * chains becomes a frame; then, when frames have labels, the chains are gone through
 * as a tree.
 */
#include "analysis/worker.h"
#include "analysis/detail.h"
#include "base/cleanup.h"

/* A mark changes what follows; returns what stands for it. */
static uint32_t take_mark(uint64_t word, struct node_state *state)
{
	if (word == CHAIN_GAP)
		return WORD_GAP;
	if (word == CHAIN_EXACT)
		state->exact = true;
	else if (chain_is_end(word))
		state->end = (uint8_t)(word - CHAIN_END(0));
	else
		state->cpumode = (uint16_t)(word - CHAIN_MODE(0));
	return WORD_NONE;
}

/* Names the words of one node. */
static bool resolve_node(struct worker *worker, const struct radix_node *node,
			 struct node_state *state)
{
	const uint64_t *words = worker->chains.radix.words.items;
	for (uint32_t i = node->run; i < node->run + node->length; i++) {
		if (chain_is_mark(words[i])) {
			worker->frames[i] = take_mark(words[i], state);
			continue;
		}
		uint32_t answer = lookup_find(&worker->lookup,
					      state->exact ? LOOKUP_EXACT : LOOKUP_CALLER,
					      state->view, state->cpumode, words[i]);
		if (answer == LOOKUP_FAILED)
			return false;
		state->depth++;
		/* By frame pointers, the last words before the end need not be of calls. */
		if (!state->begun && (state->end || !(answer & LOOKUP_NOWHERE))) {
			state->begun = true;
			state->first = answer;
		}
		state->exact = false;
		worker->frames[i] = answer >> LOOKUP_SHIFT;
	}
	return true;
}

enum sp_stack_end worker_stack_end(const struct worker *worker, const struct leaf *leaf)
{
	const struct node_state *state = &worker->states[leaf->node];
	uint16_t event = worker->groups.items[state->group].event;
	uint32_t first = state->begun ? state->first : leaf->answer;
	return stack_end_of(&worker->work->layout->events[event].attr, (enum sp_misc_end)state->end,
			    first & LOOKUP_OUTERMOST, state->depth + 1);
}

static void count_ends(struct worker *worker)
{
	for (size_t i = 0; i < worker->leaves.count; i++) {
		const struct leaf *leaf = &worker->leaves.items[i];
		uint16_t event = worker->groups.items[worker->states[leaf->node].group].event;
		worker->events[event].ends[worker_stack_end(worker, leaf)] += leaf->chains;
	}
}

struct sp_error *worker_resolve(struct worker *worker)
{
	const struct radix *radix = &worker->chains.radix;
	struct node_state *states = calloc(radix->count + 1, sizeof(*states));
	worker->states = states;
	worker->order = radix_order(radix);
	worker->frames = calloc(radix->words.count + 1, sizeof(*worker->frames));
	if (!states || !worker->order || !worker->frames)
		return error_no_memory();
	for (size_t i = 0; i < radix->count; i++) {
		uint32_t at = worker->order[i];
		const struct radix_node *node = &radix->items[at];
		if (node->parent == RADIX_NONE) {
			states[at].view = (uint32_t)node->first;
			states[at].group = (uint32_t)(node->first >> 32);
			continue;
		}
		states[at] = states[node->parent];
		if (!resolve_node(worker, node, &states[at]))
			return error_no_memory();
	}
	/* Without chains their ends were counted one by one. */
	if (!worker->work->only_leaves)
		count_ends(worker);
	return NULL;
}

/* A node with what hangs on it. */
struct node_sums {
	uint64_t samples, weight; /* of all leaves here and below */
	uint32_t leaf;            /* the first of this node's, UINT32_MAX: none */
	uint32_t group;           /* of rows */
};

/* A node on the way to where we are, and how many rows were open before it. */
struct open_node {
	uint32_t node;
	size_t rows;
};

struct summing {
	struct worker *worker;
	const struct labels *labels;
	struct node_sums *nodes;
	uint32_t *next_leaf;
	VEC(struct open_node) open; /* from the root down to where we are */
	VEC(uint32_t) rows; /* those of the calls from there, to be closed again */
};

static void summing_deinit(struct summing *summing)
{
	free(summing->nodes);
	free(summing->next_leaf);
	vec_deinit(&summing->open);
	vec_deinit(&summing->rows);
}

/*
 * The group of rows of a group of samples, whose parent is a function; UINT32_MAX when out of
 * memory.
 */
static uint32_t row_group(struct worker *worker, uint32_t of, uint32_t parent)
{
	const bool *keys = worker->work->keys;
	struct group group = worker->groups.items[of];
	if (!keys[SP_KEY_COMM])
		group.comm = NULL;
	group.detail = worker_row_detail(worker, group.detail, parent);
	if (group.detail == UINT32_MAX)
		return UINT32_MAX;
	return groups_add(&worker->row_groups, &group);
}

/* Hangs the leaves on their nodes, and adds up from the ends of the chains. */
static bool sum_nodes(struct summing *summing)
{
	struct worker *worker = summing->worker;
	const struct radix *radix = &worker->chains.radix;
	for (size_t i = 0; i < radix->count; i++)
		summing->nodes[i].leaf = UINT32_MAX;
	for (uint32_t i = 0; i < worker->leaves.count; i++) {
		const struct leaf *leaf = &worker->leaves.items[i];
		struct node_sums *node = &summing->nodes[leaf->node];
		summing->next_leaf[i] = node->leaf;
		node->leaf = i;
		node->samples += leaf->samples;
		node->weight = weight_add(node->weight, leaf->weight);
	}
	for (size_t i = radix->count; i-- > 0;) {
		uint32_t at = worker->order[i], parent = radix->items[at].parent;
		if (parent == RADIX_NONE)
			continue;
		summing->nodes[parent].samples += summing->nodes[at].samples;
		summing->nodes[parent].weight = weight_add(summing->nodes[parent].weight,
							   summing->nodes[at].weight);
	}
	for (size_t i = 0; i < radix->count; i++) {
		uint32_t at = worker->order[i];
		const struct radix_node *node = &radix->items[at];
		summing->nodes[at].group = node->parent == RADIX_NONE ?
						   row_group(worker, (uint32_t)(node->first >> 32),
							     UINT32_MAX) :
						   summing->nodes[node->parent].group;
		if (summing->nodes[at].group == UINT32_MAX)
			return false;
	}
	return true;
}

/* Down the functions of a frame, the outermost first. */
static bool open_frame(struct summing *summing, const struct node_sums *sums, uint32_t frame)
{
	struct tallies *tallies = &summing->worker->tallies;
	const struct frame_labels *of = &summing->labels->frames.items[frame];
	if (!vec_reserve(&summing->rows, summing->rows.count + of->count))
		return false;
	for (uint32_t i = of->first; i < of->first + of->count; i++) {
		uint32_t row = tallies_row(tallies, sums->group, summing->labels->items.items[i].row);
		if (row == TALLY_NONE)
			return false;
		tallies_open(tallies, row, sums->samples, sums->weight);
		*vec_push(&summing->rows) = row;
	}
	return true;
}

/* Up again, as far as where `count` rows are open. */
static void close_rows(struct summing *summing, size_t count)
{
	while (summing->rows.count > count)
		tallies_close(&summing->worker->tallies, summing->rows.items[--summing->rows.count]);
}

/* Down the calls of a node. */
static bool open_node(struct summing *summing, uint32_t at)
{
	struct worker *worker = summing->worker;
	const struct radix_node *node = &worker->chains.radix.items[at];
	struct open_node *slot = vec_push(&summing->open);
	if (!slot)
		return false;
	*slot = (struct open_node){at, summing->rows.count};
	for (uint32_t i = node->run; i < node->run + node->length; i++)
		if (worker->frames[i] < WORD_GAP &&
		    !open_frame(summing, &summing->nodes[at], worker->frames[i]))
			return false;
	return true;
}

static void close_node(struct summing *summing)
{
	close_rows(summing, vec_last(&summing->open)->rows);
	summing->open.count--;
}

/* Of functions that are inlined in each other, the innermost has the samples itself. */
static bool add_leaves(struct summing *summing, uint32_t at)
{
	struct worker *worker = summing->worker;
	size_t rows = summing->rows.count;
	for (uint32_t i = summing->nodes[at].leaf; i != UINT32_MAX; i = summing->next_leaf[i]) {
		const struct leaf *leaf = &worker->leaves.items[i];
		const struct node_sums sums = {.samples = leaf->samples, .weight = leaf->weight,
					       .group = summing->nodes[at].group};
		if (!leaf->samples)
			continue;
		if (!open_frame(summing, &sums, leaf->answer >> LOOKUP_SHIFT))
			return false;
		tallies_self(&worker->tallies, *vec_last(&summing->rows), leaf->samples,
			     leaf->weight);
		close_rows(summing, rows);
	}
	return true;
}

static bool sum_rows(struct summing *summing)
{
	struct worker *worker = summing->worker;
	const struct radix *radix = &worker->chains.radix;
	for (size_t i = 0; i < radix->count; i++) {
		uint32_t at = worker->order[i], parent = radix->items[at].parent;
		while (summing->open.count && vec_last(&summing->open)->node != parent)
			close_node(summing);
		if (!open_node(summing, at) || !add_leaves(summing, at))
			return false;
	}
	while (summing->open.count)
		close_node(summing);
	return true;
}

/* The nearest function on the way up that is a parent; UINT32_MAX: there is none. */
static uint32_t parent_of(const struct worker *worker, const struct leaf *leaf)
{
	const struct labels *labels = worker->work->labels;
	const bool *parents = worker->work->parents;
	uint32_t frame = leaf->answer >> LOOKUP_SHIFT;
	if (parents[frame])
		return labels->sides.items[frame].symbol;
	for (uint32_t at = leaf->node; at != RADIX_NONE;) {
		const struct radix_node *node = &worker->chains.radix.items[at];
		for (uint32_t i = node->run + node->length; i-- > node->run;) {
			frame = worker->frames[i];
			if (frame < WORD_GAP && parents[frame])
				return labels->sides.items[frame].symbol;
		}
		at = node->parent;
	}
	return UINT32_MAX;
}

/* Rows of which each leaf has its own: chains are gone through one by one. */
static bool sum_leaf(struct summing *summing, const struct leaf *leaf)
{
	struct worker *worker = summing->worker;
	struct node_sums sums = {.samples = leaf->samples, .weight = leaf->weight};
	sums.group = row_group(worker, worker->states[leaf->node].group, parent_of(worker, leaf));
	bool done = sums.group != UINT32_MAX;
	for (uint32_t at = leaf->node; done && at != RADIX_NONE;) {
		struct open_node *slot = vec_push(&summing->open);
		done = slot != NULL;
		if (done)
			*slot = (struct open_node){.node = at};
		at = worker->chains.radix.items[at].parent;
	}
	for (; done && summing->open.count; summing->open.count--) {
		uint32_t at = vec_last(&summing->open)->node;
		const struct radix_node *node = &worker->chains.radix.items[at];
		for (uint32_t i = node->run; done && i < node->run + node->length; i++)
			done = worker->frames[i] >= WORD_GAP ||
			       open_frame(summing, &sums, worker->frames[i]);
	}
	if (!done || !open_frame(summing, &sums, leaf->answer >> LOOKUP_SHIFT))
		return false;
	tallies_self(&worker->tallies, *vec_last(&summing->rows), leaf->samples, leaf->weight);
	close_rows(summing, 0);
	return true;
}

static bool sum_leaves(struct summing *summing)
{
	const struct worker *worker = summing->worker;
	for (size_t i = 0; i < worker->leaves.count; i++)
		if (worker->leaves.items[i].samples &&
		    !sum_leaf(summing, &worker->leaves.items[i]))
			return false;
	return true;
}

/* Whether it passes what was asked about functions. */
static bool is_shown(const struct worker *worker, const struct leaf *leaf)
{
	const struct work *work = worker->work;
	if (leaf->answer & LOOKUP_PENDING &&
	    !work->labels->frames.items[leaf->answer >> LOOKUP_SHIFT].shown)
		return false;
	return !work->parents || !work->options->parent_only ||
	       parent_of(worker, leaf) != UINT32_MAX;
}

/* What waited for the functions is shown, or forgotten. */
static void settle_pending(struct worker *worker)
{
	for (size_t i = 0; i < worker->pending.count; i++) {
		struct leaf *leaf = &worker->leaves.items[i];
		uint16_t event = worker->groups.items[worker->states[leaf->node].group].event;
		if (!worker->pending.items[i].samples)
			continue;
		if (is_shown(worker, leaf))
			weight_sums_merge(&worker->events[event].shown, &worker->pending.items[i]);
		else
			leaf->samples = leaf->weight = 0;
	}
}

struct sp_error *worker_sum(struct worker *worker)
{
	struct summing summing = {.worker = worker, .labels = worker->work->labels};
	settle_pending(worker);
	summing.nodes = calloc(worker->chains.radix.count + 1, sizeof(*summing.nodes));
	summing.next_leaf = calloc(worker->leaves.count + 1, sizeof(*summing.next_leaf));
	bool done = summing.nodes && summing.next_leaf;
	if (done && worker->work->parents)
		done = sum_leaves(&summing);
	else if (done)
		done = sum_nodes(&summing) && sum_rows(&summing);
	summing_deinit(&summing);
	return done ? NULL : error_no_memory();
}
