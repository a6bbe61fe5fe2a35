/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a worker makes of its samples when it has them all: first each word of its
 * chains becomes a frame; then, when frames have labels, the chains are gone through
 * as a tree.
 */
#include "aggregate/sample_values.h"
#include "aggregate/worker.h"
#include "base/cleanup.h"
#include "base/ctx.h"

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
	for (size_t i = 0; i < radix->count && !ctx_cancelled(worker->work->ctx); i++) {
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
	bool reached; /* at its end: the root of callers or callees was called */
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

static bool open_row(struct summing *summing, const struct node_sums *sums, uint32_t function)
{
	struct tallies *tallies = &summing->worker->tallies;
	uint32_t row = tallies_row(tallies, sums->group, function);
	uint32_t *slot = row == TALLY_NONE ? NULL : vec_push(&summing->rows);
	if (!slot)
		return false;
	tallies_open(tallies, row, sums->samples, sums->weight);
	*slot = row;
	return true;
}

static void count_self(struct summing *summing, const struct node_sums *sums)
{
	tallies_self(&summing->worker->tallies, *vec_last(&summing->rows), sums->samples,
		     sums->weight);
}

/* The function that called the root, which all stacks through here reach now. */
static bool end_at_caller(struct summing *summing, const struct node_sums *sums)
{
	const struct matches *matches = summing->worker->work->matches;
	if (!summing->rows.count && !open_row(summing, sums, matches->no_caller))
		return false;
	count_self(summing, sums);
	return true;
}

/*
 * Down the functions of a frame, the outermost first. *reached: the root of callers or callees was
 * called; rows are those above it, or those from it down.
 */
static bool open_frame(struct summing *summing, const struct node_sums *sums, uint32_t frame,
		       bool *reached)
{
	const struct work *work = summing->worker->work;
	const struct frame_labels *of = &summing->labels->frames.items[frame];
	const struct label *labels = summing->labels->items.items;
	bool callers = work->options->callers, callees = work->options->callees;
	for (uint32_t i = of->first; i < of->first + of->count && !(callers && *reached); i++) {
		if ((callers || callees) && !*reached)
			*reached = work->matches->functions[labels[i].node] & MATCH_ROOT;
		if (callers && *reached)
			return end_at_caller(summing, sums);
		if (callees && !*reached)
			continue;
		if (!open_row(summing, sums, labels[i].row))
			return false;
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
	bool reached = summing->open.count && vec_last(&summing->open)->reached;
	struct open_node *slot = vec_push(&summing->open);
	if (!slot)
		return false;
	*slot = (struct open_node){at, summing->rows.count, reached};
	/* No filter lets its stacks pass. */
	if (worker->work->by_stack && !summing->nodes[at].samples)
		return true;
	for (uint32_t i = node->run; i < node->run + node->length; i++)
		if (worker->frames[i] < WORD_GAP &&
		    !open_frame(summing, &summing->nodes[at], worker->frames[i], &slot->reached))
			return false;
	return true;
}

static void close_node(struct summing *summing)
{
	close_rows(summing, vec_last(&summing->open)->rows);
	summing->open.count--;
}

/*
 * Down the functions of a sampled place. Of those that are inlined in each other, the innermost
 * has the samples itself.
 */
static bool add_leaf(struct summing *summing, const struct leaf *leaf, uint32_t group, bool reached)
{
	const struct node_sums sums = {.samples = leaf->samples, .weight = leaf->weight,
				       .group = group};
	if (!open_frame(summing, &sums, leaf->answer >> LOOKUP_SHIFT, &reached))
		return false;
	if (!summing->worker->work->options->callers)
		count_self(summing, &sums);
	return true;
}

static bool add_leaves(struct summing *summing, uint32_t at)
{
	struct worker *worker = summing->worker;
	size_t rows = summing->rows.count;
	for (uint32_t i = summing->nodes[at].leaf; i != UINT32_MAX; i = summing->next_leaf[i]) {
		const struct leaf *leaf = &worker->leaves.items[i];
		if (!leaf->samples)
			continue;
		if (!add_leaf(summing, leaf, summing->nodes[at].group,
			      vec_last(&summing->open)->reached))
			return false;
		close_rows(summing, rows);
	}
	return true;
}

static bool sum_rows(struct summing *summing)
{
	struct worker *worker = summing->worker;
	const struct radix *radix = &worker->chains.radix;
	for (size_t i = 0; i < radix->count && !ctx_cancelled(worker->work->ctx); i++) {
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
	const uint32_t *parents = worker->work->matches->parents;
	uint32_t frame = leaf->answer >> LOOKUP_SHIFT;
	if (parents[frame] != UINT32_MAX)
		return parents[frame];
	for (uint32_t at = leaf->node; at != RADIX_NONE;) {
		const struct radix_node *node = &worker->chains.radix.items[at];
		for (uint32_t i = node->run + node->length; i-- > node->run;) {
			frame = worker->frames[i];
			if (frame < WORD_GAP && parents[frame] != UINT32_MAX)
				return parents[frame];
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
	bool reached = false;
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
			       open_frame(summing, &sums, worker->frames[i], &reached);
	}
	done = done && add_leaf(summing, leaf, sums.group, reached);
	close_rows(summing, 0);
	return done;
}

static bool sum_leaves(struct summing *summing)
{
	const struct worker *worker = summing->worker;
	for (size_t i = 0; i < worker->leaves.count && !ctx_cancelled(worker->work->ctx); i++)
		if (worker->leaves.items[i].samples &&
		    !sum_leaf(summing, &worker->leaves.items[i]))
			return false;
	return true;
}

/* The bits that functions match, of each node's stack down to its end. */
static uint8_t *match_nodes(const struct worker *worker)
{
	const struct radix *radix = &worker->chains.radix;
	const uint8_t *frames = worker->work->matches->frames;
	uint8_t *bits = calloc(radix->count + 1, sizeof(*bits));
	for (size_t i = 0; bits && i < radix->count; i++) {
		uint32_t at = worker->order[i];
		const struct radix_node *node = &radix->items[at];
		if (node->parent != RADIX_NONE)
			bits[at] = bits[node->parent];
		for (uint32_t j = node->run; j < node->run + node->length; j++)
			if (worker->frames[j] < WORD_GAP)
				bits[at] |= frames[worker->frames[j]];
	}
	return bits;
}

/* Whether its functions pass the filters by name. `nodes`: match_nodes(), or NULL. */
static bool is_shown(const struct worker *worker, const struct leaf *leaf, const uint8_t *nodes)
{
	const struct work *work = worker->work;
	uint32_t frame = leaf->answer >> LOOKUP_SHIFT;
	if (leaf->answer & LOOKUP_PENDING && !work->labels->frames.items[frame].shown)
		return false;
	return !nodes || matches_pass(work->matches, nodes[leaf->node] |
						     work->matches->frames[frame]);
}

/* Shows the samples that waited for functions, or drops them; false when out of memory. */
static bool settle_pending(struct worker *worker)
{
	CLEANUP_FREE uint8_t *nodes = worker->work->by_stack ? match_nodes(worker) : NULL;
	if (worker->work->by_stack && !nodes)
		return false;
	for (size_t i = 0; i < worker->pending.count; i++) {
		struct leaf *leaf = &worker->leaves.items[i];
		uint16_t event = worker->groups.items[worker->states[leaf->node].group].event;
		if (!worker->pending.items[i].samples)
			continue;
		if (is_shown(worker, leaf, nodes))
			weight_sums_merge(&worker->events[event].shown, &worker->pending.items[i]);
		else
			leaf->samples = leaf->weight = 0;
	}
	return true;
}

struct sp_error *worker_sum(struct worker *worker)
{
	struct summing summing = {.worker = worker, .labels = worker->work->labels};
	if (!settle_pending(worker))
		return error_no_memory();
	summing.nodes = calloc(worker->chains.radix.count + 1, sizeof(*summing.nodes));
	summing.next_leaf = calloc(worker->leaves.count + 1, sizeof(*summing.next_leaf));
	bool done = summing.nodes && summing.next_leaf;
	if (done && worker->work->keys[SP_KEY_PARENT] && worker->work->matches)
		done = sum_leaves(&summing);
	else if (done)
		done = sum_nodes(&summing) && sum_rows(&summing);
	summing_deinit(&summing);
	return done ? NULL : error_no_memory();
}
