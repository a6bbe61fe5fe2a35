/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts the radix tree to a call tree, in which a node's children are an array, heaviest first. The
 * words of a run become a chain of only children.
 */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"

/* A node of the radix tree, with the sums of its subtree. */
struct branch {
	uint64_t samples, weight;
	uint32_t child, next;       /* first child, and next sibling; RADIX_NONE: none */
	struct sp_tree_node *last;  /* tree node of its run's last word */
};

struct tree_layout {
	const struct profile_source *source;
	struct arena *arena;
	struct branch *branches;
	struct state_sums *times; /* by branch; NULL: nodes have no times */
	const uint32_t *order; /* nodes with parents first */
	uint64_t least;     /* smallest weight of a branch that is shown */
	double n_eff;
};

static uint64_t word_of(const struct tree_layout *layout, uint32_t branch, uint32_t at)
{
	const struct radix *radix = &layout->source->paths->radix;
	return radix->words.items[radix->items[branch].run + at];
}

/* Adds each branch's sums to its parent's, and links the branch to its parent. */
static void add_up(struct tree_layout *layout)
{
	const struct paths *paths = layout->source->paths;
	struct branch *branches = layout->branches;
	for (size_t i = 0; i < paths->radix.count; i++)
		branches[i] = (struct branch){.samples = paths->sums.items[i].samples,
					      .weight = paths->sums.items[i].weight,
					      .child = RADIX_NONE, .next = RADIX_NONE};
	for (size_t i = paths->radix.count; i-- > 0;) {
		uint32_t at = layout->order[i], up = paths->radix.items[at].parent;
		if (up == RADIX_NONE)
			continue;
		branches[up].samples = weight_add(branches[up].samples, branches[at].samples);
		branches[up].weight = weight_add(branches[up].weight, branches[at].weight);
		if (layout->times)
			state_sums_add(&layout->times[up], &layout->times[at]);
		branches[at].next = branches[up].child;
		branches[up].child = at;
	}
}

static struct sp_weight weigh(const struct tree_layout *layout, uint64_t samples, uint64_t weight,
			      const struct state_sums *times)
{
	const struct profile_source *source = layout->source;
	struct sp_share share = interval_share(weight, source->whole.weight, layout->n_eff);
	if (times)
		return (struct sp_weight){samples, weight, state_share(times, source->states)};
	/* A node may belong to any program, so it may have all unsampled weight. */
	const struct unsampled_weight *unsampled = &source->unsampled_all;
	interval_widen(&share, source->whole.weight, unsampled->missing, unsampled->missing);
	if (samples || !weight)
		interval_shift(&share, source->whole.weight, unsampled->less, unsampled->more);
	return (struct sp_weight){.samples = samples, .weight = weight, .share = share};
}

static const struct state_sums no_times;

/* Returns the times of samples with a path that ends at a branch; NULL: nodes have no times. */
static const struct state_sums *own_times(const struct tree_layout *layout, uint32_t branch)
{
	const struct paths *paths = layout->source->paths;
	if (!layout->times)
		return NULL;
	return branch < paths->times.count ? &paths->times.items[branch] : &no_times;
}

static void name_text(const struct profile_source *source, uint64_t word, struct sp_tree_node *node)
{
	const char *text = source->texts[(uint32_t)word];
	node->symbol = source->by_symbol ? text : NULL;
	node->function = source->by_symbol ? NULL : text;
	node->symbol_known = true;
	node->truncated = word & PATHS_CUT;
	node->state = word & PATHS_STATE ? SP_STATE_ON_CPU + PATHS_STATE_OF(word) : SP_STATE_NONE;
}

/* Sets a node's names from its word. False when out of memory. */
static bool name_node(const struct tree_layout *layout, uint64_t word, struct sp_tree_node *node)
{
	const struct profile_source *source = layout->source;
	if (word & PATHS_TEXT) {
		name_text(source, word, node);
		return true;
	}
	const struct function *function = &source->functions->items[word];
	node->symbol = function->symbol;
	node->function = function->function;
	const struct named *named = function_named(function);
	node->identity = named ? &named->identity : NULL;
	node->start_line = named ? named->declared : 0;
	node->dso = function->dso;
	node->dso_path = function->dso_path;
	node->build_id = function->build_id;
	node->symbol_known = function->known;
	node->from_cfi = function->from_cfi;
	node->own_code = function->own_code;
	node->inlined = function->inlined;
	node->level = function->level;
	node->address = function->start;
	node->srcpath = function->srcfile;
	node->line = function->line;
	node->sampled = function->sampled;
	node->srcfile = srcfiles_shown(source->files, function->srcfile);
	if (!function->srcfile || !function->line)
		return true;
	node->srcline = srcfiles_line(source->files, function->srcfile, function->line,
				      layout->arena);
	return node->srcline != NULL;
}

/* A branch and the data of its comparison. qsort() passes no context, and only glibc has qsort_r(). */
struct sibling {
	uint64_t samples, weight, word;
	uint32_t branch;
	const struct profile_source *source;
};

static const char *word_name(const struct profile_source *source, uint64_t word)
{
	return word & PATHS_TEXT ? source->texts[(uint32_t)word] :
				   function_name(&source->functions->items[word]);
}

static int compare_siblings(const void *a, const void *b)
{
	const struct sibling *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if ((x->word | y->word) & PATHS_TEXT) {
		int order = strcmp(word_name(x->source, x->word), word_name(x->source, y->word));
		return order ? order : (x->word > y->word) - (x->word < y->word);
	}
	return function_compare(&x->source->functions->items[x->word],
				&x->source->functions->items[y->word]);
}

/* Lists a branch's children above the limit, heaviest first; false when out of memory. */
static bool sort_children(const struct tree_layout *layout, const struct branch *branch,
			  struct sibling **ret, size_t *count_ret)
{
	size_t count = 0;
	for (uint32_t at = branch->child; at != RADIX_NONE; at = layout->branches[at].next)
		count += layout->branches[at].weight >= layout->least;
	*count_ret = 0;
	*ret = NULL;
	if (!count)
		return true;
	struct sibling *siblings = malloc(count * sizeof(*siblings));
	if (!siblings)
		return false;
	for (uint32_t at = branch->child; at != RADIX_NONE; at = layout->branches[at].next) {
		const struct branch *child = &layout->branches[at];
		if (child->weight < layout->least)
			continue;
		siblings[(*count_ret)++] = (struct sibling){
			.samples = child->samples, .weight = child->weight,
			.word = word_of(layout, at, 0), .branch = at, .source = layout->source,
		};
	}
	qsort(siblings, count, sizeof(*siblings), compare_siblings);
	*ret = siblings;
	return true;
}

/* Makes the tree nodes of a run's words: each is the only child of the one before. */
static bool lay_run(struct tree_layout *layout, uint32_t index, struct sp_tree_node *first)
{
	struct branch *branch = &layout->branches[index];
	const struct path_sums *sums = &layout->source->paths->sums.items[index];
	uint32_t length = layout->source->paths->radix.items[index].length;
	uint32_t run = layout->source->paths->radix.items[index].run;
	struct sp_tree_node *rest = NULL, *node = first;
	if (length > 1) {
		rest = arena_alloc(layout->arena, (length - 1) * sizeof(*rest));
		if (!rest)
			return false;
	}
	for (uint32_t i = 0; i < length; i++) {
		if (!name_node(layout, word_of(layout, index, i), node))
			return false;
		struct cycle cycle = paths_cycle(layout->source->paths, run + i);
		node->cycle_calls = cycle.calls;
		node->cycle_rounds = cycle.rounds;
		node->total = weigh(layout, branch->samples, branch->weight,
				    layout->times ? &layout->times[index] : NULL);
		node->self = weigh(layout, 0, 0, layout->times ? &no_times : NULL);
		if (i + 1 < length) {
			node->children = &rest[i];
			node->child_count = 1;
			node = &rest[i];
		}
	}
	node->self = weigh(layout, sums->samples, sums->weight, own_times(layout, index));
	branch->last = node;
	return true;
}

static bool lay_children(struct tree_layout *layout, uint32_t index)
{
	CLEANUP_FREE struct sibling *siblings = NULL;
	size_t count;
	struct sp_tree_node *parent = layout->branches[index].last;
	if (!sort_children(layout, &layout->branches[index], &siblings, &count))
		return false;
	for (uint32_t at = layout->branches[index].child; at != RADIX_NONE;
	     at = layout->branches[at].next)
		parent->left_out++;
	parent->left_out -= count;
	if (!count)
		return true;
	struct sp_tree_node *nodes = arena_alloc(layout->arena, count * sizeof(*nodes));
	if (!nodes)
		return false;
	parent->children = nodes;
	parent->child_count = count;
	for (size_t i = 0; i < count; i++)
		if (!lay_run(layout, siblings[i].branch, &nodes[i]))
			return false;
	return true;
}

static bool lay_out(struct tree_layout *layout, struct sp_profile *profile)
{
	const struct paths *paths = layout->source->paths;
	struct sp_tree_node *root = arena_alloc(layout->arena, sizeof(*root));
	if (!root)
		return false;
	profile->tree = root;
	root->self = root->total = weigh(layout, 0, 0, layout->times ? &no_times : NULL);
	if (!paths->radix.count)
		return true;
	layout->branches[0].last = root;
	root->self = weigh(layout, paths->sums.items[0].samples, paths->sums.items[0].weight,
			   own_times(layout, 0));
	root->total = weigh(layout, layout->branches[0].samples, layout->branches[0].weight,
			    layout->times);
	for (size_t i = 0; i < paths->radix.count; i++) {
		uint32_t at = layout->order[i];
		/* Descendants of an omitted branch are omitted, too. */
		if (layout->branches[at].last && !lay_children(layout, at))
			return false;
	}
	return true;
}

/* Copies the paths' times, to which those of callees are added. Returns false when out of memory. */
static bool copy_times(struct tree_layout *layout)
{
	const struct paths *paths = layout->source->paths;
	if (!layout->source->states)
		return true;
	layout->times = calloc(paths->radix.count + 1, sizeof(*layout->times));
	if (layout->times && paths->times.count)
		memcpy(layout->times, paths->times.items, paths->times.count * sizeof(*layout->times));
	return layout->times;
}

bool profile_tree(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile, const struct sp_tree_node **last_ret)
{
	const struct radix *radix = &source->paths->radix;
	CLEANUP_FREE struct branch *branches = calloc(radix->count + 1, sizeof(*branches));
	CLEANUP_FREE uint32_t *order = radix_order(radix);
	struct tree_layout layout = {
		.source = source,
		.arena = arena,
		.branches = branches,
		.order = order,
		.least = (double)source->whole.weight * source->tree_least,
		.n_eff = profile_n_eff(source),
	};
	if (!branches || !order || !copy_times(&layout))
		return false;
	add_up(&layout);
	bool done = lay_out(&layout, profile);
	free(layout.times);
	if (!done)
		return false;
	for (size_t i = 0; i < radix->count; i++)
		last_ret[i] = branches[i].last;
	return true;
}
