/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/resolve_chains.h"

#include <stdlib.h>
#include "base/ctx.h"

/*
 * Applies a mark to the state for the addresses that follow. Returns the word that stands for the mark
 * in `frames`.
 */
static uint32_t apply_mark(uint64_t word, struct node_state *state)
{
	if (word == CHAIN_GAP)
		return WORD_GAP;
	if (word == CHAIN_EXACT)
		state->exact = true;
	else if (chain_is_end(word))
		state->end = word - CHAIN_END(0);
	else
		state->cpumode = word - CHAIN_MODE(0);
	return WORD_NONE;
}

/* Resolves the addresses in the words of one node. Returns false when out of memory. */
static bool resolve_node(struct resolved *resolved, const struct radix_node *node,
			 struct node_state *state)
{
	struct counted *counted = resolved->counted;
	const uint64_t *words = counted->chains.radix.words.items;
	for (uint32_t i = node->run; i < node->run + node->length; i++) {
		if (chain_is_mark(words[i])) {
			resolved->frames[i] = apply_mark(words[i], state);
			continue;
		}
		uint32_t answer = address_cache_find(&counted->answers, (struct code_address){
			words[i], state->view, state->cpumode, !state->exact});
		if (answer == ANSWER_FAILED)
			return false;
		state->depth++;
		/*
		 * If the kernel walked frame pointers, the outermost words may be unmapped, so they are
		 * no calls.
		 */
		if (!state->begun && (state->end || !(answer & ANSWER_UNMAPPED))) {
			state->begun = true;
			state->first = answer;
		}
		state->exact = false;
		resolved->frames[i] = state->begun ? answer_frame(answer) : WORD_NONE;
	}
	return true;
}

uint16_t resolved_event(const struct resolved *resolved, const struct leaf *leaf)
{
	return resolved->counted->groups.items[resolved->states[leaf->node].group].event;
}

uint32_t resolved_outermost(const struct resolved *resolved, const struct leaf *leaf)
{
	const struct node_state *state = &resolved->states[leaf->node];
	return state->begun ? state->first : leaf->answer;
}

enum sp_stack_end resolved_stack_end(const struct resolved *resolved, const struct leaf *leaf)
{
	const struct record_layout *layout = resolved->counted->work->read->sideband.layout;
	const struct node_state *state = &resolved->states[leaf->node];
	return stack_end_of(&layout->events[resolved_event(resolved, leaf)].attr,
			    (enum sp_misc_end)state->end,
			    resolved_outermost(resolved, leaf) & ANSWER_OUTERMOST,
			    state->depth + 1);
}

static void count_ends(const struct resolved *resolved)
{
	struct counted *counted = resolved->counted;
	vec_each (leaf, &counted->leaves) {
		uint16_t event = resolved_event(resolved, leaf);
		counted->events[event].ends[resolved_stack_end(resolved, leaf)] += leaf->chains;
	}
}

struct sp_error *chains_resolve(struct counted *counted, struct resolved *resolved)
{
	resolved->counted = counted;
	const struct radix *radix = &counted->chains.radix;
	struct node_state *states = calloc(radix->count + 1, sizeof(*states));
	resolved->states = states;
	resolved->order = radix_order(radix);
	resolved->frames = calloc(radix->words.count + 1, sizeof(*resolved->frames));
	NEED(states && resolved->order && resolved->frames);
	for (size_t i = 0; i < radix->count && !ctx_cancelled(counted->work->ctx); i++) {
		uint32_t at = resolved->order[i];
		const struct radix_node *node = &radix->items[at];
		if (node->parent == RADIX_NONE) {
			states[at].view = root_view(node);
			states[at].group = root_group(node);
			continue;
		}
		states[at] = states[node->parent];
		NEED(resolve_node(resolved, node, &states[at]));
	}
	/* If only leaves are kept, ends were counted already, for each sample. */
	if (!counted->work->only_leaves)
		count_ends(resolved);
	return NULL;
}

void resolved_deinit(struct resolved *resolved)
{
	free(resolved->order);
	free(resolved->frames);
	free(resolved->states);
}
