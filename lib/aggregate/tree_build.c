/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the chains that workers found to what a tree is made of, as callers or as callees.
 * A stack whose outer calls are missing begins with a word that says why, so that it is
 * not taken for a root of its own.
 */
#include "aggregate/tree_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"

/* Room before the calls of a way: its command, and how its stack was cut. */
#define PREFIX 2

/* A node on the way to where we are, and how many words were before it. */
struct open_run {
	uint32_t node;
	size_t words, root;
};

/* Why a stack was cut, in an event's tree, and the word for it. */
struct cut {
	bool known;
	uint16_t event;
	enum sp_stack_end end;
	const char *module;
	uint64_t word;
};

/* Goes through one worker's chains; the words are from the root to where it is. */
struct growth {
	struct run *run;
	const struct resolved *resolved;
	struct merged *merged;      /* by event */
	VEC(uint64_t) words;        /* behind PREFIX of them */
	size_t root;                /* of these: the first whose callers or callees are wanted */
	VEC(struct open_run) open;  /* nodes on the way */
	VEC(uint64_t) way;          /* scratch: what is added to the tree */
	VEC(struct cycle) cycles;   /* of its calls */
	uint32_t *first_leaf, *next_leaf;
	uint64_t comm;              /* the word of the command, where trees begin with those */
	uint16_t event;
	/* The word of the stack end last asked for: mostly it is the same. */
	struct cut cut;
};

/* The text's index in texts; UINT32_MAX when out of memory. */
static uint32_t merged_text(struct run *run, struct merged *merged, const char *text)
{
	bool added;
	const char *copy = strtab_add(&run->analysis->strings, text);
	if (!copy || !vec_reserve(&merged->texts, merged->texts.count + 1))
		return UINT32_MAX;
	const uint32_t *index = u64map_put(&merged->text_of, (uintptr_t)copy,
					   (uint32_t)merged->texts.count, &added);
	if (!index)
		return UINT32_MAX;
	if (added)
		*vec_push(&merged->texts) = copy;
	return *index;
}

static void growth_deinit(struct growth *growth)
{
	vec_deinit(&growth->words);
	vec_deinit(&growth->open);
	vec_deinit(&growth->way);
	vec_deinit(&growth->cycles);
	free(growth->first_leaf);
	free(growth->next_leaf);
}

static bool hang_leaves(struct growth *growth)
{
	const struct counted *counted = growth->resolved->counted;
	size_t nodes = counted->chains.radix.count;
	growth->first_leaf = malloc((nodes + 1) * sizeof(*growth->first_leaf));
	growth->next_leaf = malloc((counted->leaves.count + 1) * sizeof(*growth->next_leaf));
	if (!growth->first_leaf || !growth->next_leaf)
		return false;
	for (size_t i = 0; i < nodes; i++)
		growth->first_leaf[i] = RADIX_NONE;
	for (uint32_t i = 0; i < counted->leaves.count; i++) {
		uint32_t node = counted->leaves.items[i].node;
		growth->next_leaf[i] = growth->first_leaf[node];
		growth->first_leaf[node] = i;
	}
	return true;
}

/* A new root: its event's tree, and the command if trees begin with those. */
static bool start(struct growth *growth, const struct radix_node *root)
{
	const struct group *group = &growth->resolved->counted->groups.items[root->first >> 32];
	growth->event = group->event;
	if (!vec_reserve(&growth->words, PREFIX))
		return false;
	growth->words.count = PREFIX;
	growth->root = SIZE_MAX;
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
				    "[frames omitted]");
	return text == UINT32_MAX ? UINT64_MAX : PATHS_CUT | text;
}

/* Why the outer calls of a stack are missing; `module` is of the outermost one. */
static void describe_end(enum sp_stack_end end, const char *module, char *text, size_t size)
{
	switch (end) {
	case SP_STACK_NO_UNWIND_INFO:
		snprintf(text, size, "[truncated: no unwind information for %s]", module);
		break;
	case SP_STACK_BAD_MEMORY:
		snprintf(text, size, "[truncated: unreadable memory]");
		break;
	case SP_STACK_DEPTH_LIMIT:
		snprintf(text, size, "[truncated: depth limit]");
		break;
	case SP_STACK_SKIPPED:
		snprintf(text, size, "[truncated: recorder overloaded]");
		break;
	case SP_STACK_DEFERRED:
		snprintf(text, size, "[truncated: no user call chain]");
		break;
	case SP_STACK_INVALID_ADDRESS:
		snprintf(text, size, "[truncated: invalid return address]");
		break;
	case SP_STACK_SWITCHED:
		snprintf(text, size, "[truncated: a signal changed stacks]");
		break;
	default:
		snprintf(text, size, "[truncated stacks]");
		break;
	}
}

/* The dso of a stack's outermost call. */
static const char *outermost_dso(const struct growth *growth, const struct leaf *leaf)
{
	const struct node_state *state = &growth->resolved->states[leaf->node];
	uint32_t answer = state->begun ? state->first : leaf->answer;
	const struct frame *frame = &growth->run->names.frames.items[answer >> LOOKUP_SHIFT];
	return names_dso(frame);
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
	growth->cut = (struct cut){true, growth->event, end, module, PATHS_CUT | index};
	return growth->cut.word;
}

/* The functions of a frame, the outermost first. */
static bool push_frame(struct growth *growth, uint32_t frame)
{
	const struct labels *labels = &growth->run->labels;
	const struct frame_labels *of = &labels->frames.items[frame];
	const struct matches *matches = growth->resolved->counted->work->matches;
	if (!vec_reserve(&growth->words, growth->words.count + of->count))
		return false;
	for (uint32_t i = of->first; i < of->first + of->count; i++) {
		uint32_t node = labels->items.items[i].node;
		if (matches && matches->functions[node] & MATCH_ROOT && growth->root == SIZE_MAX)
			growth->root = growth->words.count;
		*vec_push(&growth->words) = node;
	}
	return true;
}

static bool push_gap(struct growth *growth)
{
	uint64_t *word = vec_push(&growth->words);
	if (word)
		*word = gap_word(growth);
	return word && *word != UINT64_MAX;
}

/* Not of a call: a word that frame pointers led to, where nothing is mapped. */
static bool is_nowhere(const struct growth *growth, const struct node_state *state, uint32_t frame)
{
	const struct frame *of = &growth->run->names.frames.items[frame];
	return !state->end && !of->module && of->cpumode == PERF_RECORD_MISC_USER;
}

static bool push_run(struct growth *growth, uint32_t at)
{
	const struct resolved *resolved = growth->resolved;
	const struct counted *counted = resolved->counted;
	const struct radix_node *node = &counted->chains.radix.items[at];
	bool begun = node->parent != RADIX_NONE && resolved->states[node->parent].begun;
	struct open_run *open = vec_push(&growth->open);
	if (!open)
		return false;
	*open = (struct open_run){at, growth->words.count, growth->root};
	for (uint32_t i = node->run; i < node->run + node->length; i++) {
		if (resolved->frames[i] == WORD_NONE)
			continue;
		if (!begun && resolved->frames[i] != WORD_GAP) {
			begun = !is_nowhere(growth, &resolved->states[at], resolved->frames[i]);
			if (!begun)
				continue;
		}
		if (!(resolved->frames[i] == WORD_GAP ? push_gap(growth) :
						      push_frame(growth, resolved->frames[i])))
			return false;
	}
	return true;
}

static void pop_run(struct growth *growth)
{
	growth->words.count = vec_last(&growth->open)->words;
	growth->root = vec_last(&growth->open)->root;
	growth->open.count--;
}

/* Puts what comes before the calls in front of them; false when out of memory. */
static bool put_prefix(struct growth *growth, const struct leaf *leaf, uint64_t *way,
		       size_t *begin_ret)
{
	/* Callees do not begin where the stack does. */
	bool whole = leaf->chains && !growth->run->options.callees;
	enum sp_stack_end end = whole ? resolved_stack_end(growth->resolved, leaf) : SP_STACK_NONE;
	size_t begin = PREFIX;
	if (end != SP_STACK_COMPLETE && end != SP_STACK_NONE) {
		way[--begin] = cut_word(growth, end, leaf);
		if (way[begin] == UINT64_MAX)
			return false;
	}
	if (growth->run->options.tree_comms)
		way[--begin] = growth->comm;
	*begin_ret = begin;
	return true;
}

static bool mark(struct growth *growth, struct paths *paths, size_t before, size_t calls)
{
	bool turned = growth->run->options.tree == SP_TREE_CALLEE;
	size_t fixed = growth->run->options.tree_comms;
	for (size_t i = 0; growth->run->options.collapse_recursion && i < calls; i++) {
		struct cycle cycle = growth->cycles.items[i];
		size_t at = turned ? fixed + calls - i - cycle.calls : before + i;
		if (cycle.calls && !paths_mark(paths, at, cycle))
			return false;
	}
	return true;
}

/* What is not fixed at its beginning comes the other way round. */
static void turn(uint64_t *words, size_t count, size_t fixed)
{
	for (size_t i = fixed, j = count; i < j--; i++) {
		uint64_t other = words[i];
		words[i] = words[j];
		words[j] = other;
	}
}

/* The words with room for a prefix, to be changed at will; NULL when out of memory. */
static uint64_t *copy_words(struct growth *growth)
{
	if (!vec_reserve(&growth->way, growth->words.count) ||
	    !vec_reserve(&growth->cycles, growth->words.count))
		return NULL;
	return memcpy(growth->way.items, growth->words.items,
		      growth->words.count * sizeof(uint64_t));
}

/* The calls down to the sampled one, behind PREFIX; NULL when out of memory. */
static uint64_t *find_way(struct growth *growth, const struct leaf *leaf, size_t *calls_ret)
{
	const struct sp_analysis_options *options = &growth->run->options;
	size_t above = growth->words.count, root = growth->root;
	if (!push_frame(growth, leaf->answer >> LOOKUP_SHIFT))
		return NULL;
	/* Most ways are added as they are: what comes before the calls has its room. */
	bool as_is = options->tree == SP_TREE_CALLER && !options->collapse_recursion &&
		     !options->callees;
	uint64_t *way = as_is ? growth->words.items : copy_words(growth);
	/* An address where nothing is mapped matches as a name, but is no call. */
	size_t last = growth->words.count - 1, at = growth->root < last ? growth->root : last;
	size_t first = options->callees ? at : PREFIX, end = (options->callers ? at : last) + 1;
	growth->words.count = above;
	growth->root = root;
	*calls_ret = end - first;
	return way ? way + first - PREFIX : NULL;
}

static bool add_way(struct growth *growth, const struct leaf *leaf)
{
	const struct sp_analysis_options *options = &growth->run->options;
	struct paths *paths = &growth->merged[growth->event].paths;
	size_t calls, begin;
	uint64_t *way = find_way(growth, leaf, &calls);
	if (!way || !put_prefix(growth, leaf, way, &begin))
		return false;
	if (options->collapse_recursion)
		calls = cycles_collapse(way + PREFIX, calls, growth->cycles.items);
	size_t count = PREFIX - begin + calls;
	if (options->tree == SP_TREE_CALLEE)
		turn(way + begin, count, options->tree_comms);
	return paths_add(paths, way + begin, count, leaf->samples, leaf->weight) &&
	       mark(growth, paths, PREFIX - begin, calls);
}

static bool add_node(struct growth *growth, uint32_t at)
{
	const struct radix_node *node = &growth->resolved->counted->chains.radix.items[at];
	while (growth->open.count && vec_last(&growth->open)->node != node->parent)
		pop_run(growth);
	if (node->parent == RADIX_NONE && !start(growth, node))
		return false;
	if (!push_run(growth, at))
		return false;
	for (uint32_t i = growth->first_leaf[at]; i != RADIX_NONE; i = growth->next_leaf[i]) {
		const struct leaf *leaf = &growth->resolved->counted->leaves.items[i];
		if (leaf->samples && !add_way(growth, leaf))
			return false;
	}
	return true;
}

bool trees_build(struct run *run, struct merged *merged, const struct resolved *resolved)
{
	struct growth growth = {.run = run, .resolved = resolved, .merged = merged};
	bool done = hang_leaves(&growth);
	size_t count = resolved->counted->chains.radix.count;
	for (size_t i = 0; done && i < count && !ctx_cancelled(run->ctx); i++)
		done = add_node(&growth, resolved->order[i]);
	growth_deinit(&growth);
	return done;
}
