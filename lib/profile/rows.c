/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A row is a group and a function, each reduced to the keys that were asked for.
 * Its total counts a chain once, however often the chain passes through it: a
 * node counts, with all below it, where no node above it is of the same row.
 */
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"

struct tally {
	uint32_t group;    /* index of the first group that looks so */
	uint32_t function; /* the first function, or dso; STACK_NONE: no such key */
	uint64_t self_samples, self_weight, total_samples, total_weight;
	uint32_t open; /* nodes of this row on the way down to the node at hand */
};

struct tallies {
	VEC(struct tally);
	struct u64map index_of; /* (group, function) -> index */
	uint32_t *group_of;     /* group -> the first group that looks the same */
};

static void tallies_deinit(struct tallies *tallies)
{
	vec_deinit(tallies);
	u64map_deinit(&tallies->index_of);
	free(tallies->group_of);
}

static bool same_group(const struct profile_source *source, const struct group *a,
		       const struct group *b)
{
	const bool *keys = source->keys;
	return (!keys[SP_KEY_COMM] || a->comm == b->comm) &&
	       (!keys[SP_KEY_PID] || a->pid == b->pid) &&
	       (!keys[SP_KEY_TID] || a->tid == b->tid) && (!keys[SP_KEY_CPU] || a->cpu == b->cpu);
}

static uint64_t group_hash(const struct profile_source *source, const struct group *group)
{
	const bool *keys = source->keys;
	uint64_t hash = keys[SP_KEY_COMM] ? (uintptr_t)group->comm : 0;
	hash = hash_pair(hash, keys[SP_KEY_PID] ? (uint32_t)group->pid : 0);
	hash = hash_pair(hash, keys[SP_KEY_TID] ? (uint32_t)group->tid : 0);
	return hash_pair(hash, keys[SP_KEY_CPU] ? (uint32_t)group->cpu : 0);
}

/* Finds out which groups look the same by the keys of the rows. */
static bool reduce_groups(struct tallies *tallies, const struct profile_source *source)
{
	struct u64map first = {0};
	uint32_t count = 0;
	for (size_t i = 0; i < source->stacks->count; i++)
		if (source->stacks->items[i].parent == STACK_NONE &&
		    source->stacks->items[i].id >= count)
			count = source->stacks->items[i].id + 1;
	tallies->group_of = calloc(count + 1, sizeof(uint32_t));
	bool done = tallies->group_of != NULL;
	for (uint32_t i = 0; done && i < count; i++) {
		uint64_t hash = group_hash(source, &source->groups[i]);
		uint32_t *found = u64map_put(&first, hash, i, NULL);
		/* Two that merely hash alike go to other keys. */
		while (found && !same_group(source, &source->groups[*found], &source->groups[i]))
			found = u64map_put(&first, ++hash, i, NULL);
		if (found)
			tallies->group_of[i] = *found;
		done = found != NULL;
	}
	u64map_deinit(&first);
	return done;
}

/* The row's index of a node; STACK_NONE when out of memory. */
static uint32_t tally_of(struct tallies *tallies, const struct profile_source *source,
			 uint32_t group, uint32_t function)
{
	bool added;
	if (!source->keys[SP_KEY_SYMBOL])
		function = source->keys[SP_KEY_DSO] ?
				   source->functions->items[function].dso_index : STACK_NONE;
	if (!vec_reserve(tallies, tallies->count + 1))
		return STACK_NONE;
	uint32_t *index = u64map_put(&tallies->index_of, (uint64_t)group << 32 | function,
				     (uint32_t)tallies->count, &added);
	if (!index)
		return STACK_NONE;
	if (added)
		*vec_push(tallies) = (struct tally){.group = group, .function = function};
	return *index;
}

/* What is worked out for each node. */
struct walk {
	uint32_t tally;       /* STACK_NONE: a root */
	uint32_t group;       /* reduced */
	uint32_t child, next; /* the last child, and the one before this; STACK_NONE: none */
	uint64_t samples, weight; /* with all below it */
};

static bool prepare(struct tallies *tallies, const struct profile_source *source,
		    struct walk *walk)
{
	const struct stacks *stacks = source->stacks;
	for (uint32_t i = 0; i < stacks->count; i++) {
		const struct stack_node *node = &stacks->items[i];
		walk[i] = (struct walk){.tally = STACK_NONE, .child = STACK_NONE, .next = STACK_NONE,
					.samples = node->samples, .weight = node->weight};
		if (node->parent == STACK_NONE) {
			walk[i].group = tallies->group_of[node->id];
			continue;
		}
		struct walk *parent = &walk[node->parent];
		walk[i].group = parent->group;
		walk[i].next = parent->child;
		parent->child = i;
		walk[i].tally = tally_of(tallies, source, parent->group, node->id);
		if (walk[i].tally == STACK_NONE)
			return false;
		struct tally *tally = &tallies->items[walk[i].tally];
		tally->self_samples = weight_add(tally->self_samples, node->samples);
		tally->self_weight = weight_add(tally->self_weight, node->weight);
	}
	for (size_t i = stacks->count; i-- > 0;) {
		if (stacks->items[i].parent == STACK_NONE)
			continue;
		struct walk *parent = &walk[stacks->items[i].parent];
		parent->samples = weight_add(parent->samples, walk[i].samples);
		parent->weight = weight_add(parent->weight, walk[i].weight);
	}
	return true;
}

/* Goes down the whole tree, without recursion: a chain may be thousands of calls deep. */
static void add_totals(struct tallies *tallies, const struct stacks *stacks, struct walk *walk,
		       uint32_t root)
{
	uint32_t at = root;
	for (;;) {
		struct tally *tally = walk[at].tally == STACK_NONE ? NULL :
								     &tallies->items[walk[at].tally];
		if (tally && tally->open++ == 0) {
			tally->total_samples = weight_add(tally->total_samples, walk[at].samples);
			tally->total_weight = weight_add(tally->total_weight, walk[at].weight);
		}
		if (walk[at].child != STACK_NONE) {
			at = walk[at].child;
			continue;
		}
		while (walk[at].tally != STACK_NONE) {
			tallies->items[walk[at].tally].open--;
			if (walk[at].next != STACK_NONE)
				break;
			at = stacks->items[at].parent;
		}
		if (at == root)
			return;
		at = walk[at].next;
	}
}

static bool tally_all(struct tallies *tallies, const struct profile_source *source)
{
	const struct stacks *stacks = source->stacks;
	CLEANUP_FREE struct walk *walk = calloc(stacks->count + 1, sizeof(*walk));
	if (!walk || !reduce_groups(tallies, source) || !prepare(tallies, source, walk))
		return false;
	for (uint32_t i = 0; source->children && i < stacks->count; i++)
		if (stacks->items[i].parent == STACK_NONE)
			add_totals(tallies, stacks, walk, i);
	return true;
}

static struct sp_weight weigh(const struct profile_source *source, double n_eff,
			      uint64_t samples, uint64_t weight)
{
	return (struct sp_weight){
		.samples = samples,
		.weight = weight,
		.share = interval_share(weight, source->whole.weight, n_eff),
	};
}

static void name_row(const struct profile_source *source, const struct tally *tally,
		     struct sp_row *row)
{
	const bool *keys = source->keys;
	const struct group *group = &source->groups[tally->group];
	row->comm = keys[SP_KEY_COMM] ? group->comm : NULL;
	row->pid = keys[SP_KEY_PID] ? group->pid : 0;
	row->tid = keys[SP_KEY_TID] ? group->tid : 0;
	row->cpu = keys[SP_KEY_CPU] ? group->cpu : 0;
	row->event = keys[SP_KEY_EVENT] ? source->event : NULL;
	if (tally->function == STACK_NONE)
		return;
	const struct function *function = keys[SP_KEY_SYMBOL] ?
						  &source->functions->items[tally->function] :
						  &source->functions->dsos.items[tally->function];
	if (keys[SP_KEY_DSO]) {
		row->dso = function->dso;
		row->dso_path = function->dso_path;
		row->build_id = function->build_id;
	}
	row->level = function->level;
	if (keys[SP_KEY_SYMBOL]) {
		row->symbol = function->symbol;
		row->symbol_known = function->known;
		row->address = function->start;
	}
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_names(const struct sp_row *a, const struct sp_row *b)
{
	int order = compare_text(a->comm, b->comm);
	order = order ? order : compare_text(a->dso, b->dso);
	order = order ? order : compare_text(a->symbol, b->symbol);
	order = order ? order : (a->pid > b->pid) - (a->pid < b->pid);
	order = order ? order : (a->tid > b->tid) - (a->tid < b->tid);
	order = order ? order : (a->cpu > b->cpu) - (a->cpu < b->cpu);
	order = order ? order : (a->address > b->address) - (a->address < b->address);
	return order ? order : (int)a->level - (int)b->level;
}

static int compare_weights(const struct sp_weight *a, const struct sp_weight *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->samples < b->samples) - (a->samples > b->samples);
}

static int compare_self(const void *a, const void *b)
{
	const struct sp_row *x = a, *y = b;
	int order = compare_weights(&x->self, &y->self);
	order = order ? order : compare_weights(&x->total, &y->total);
	return order ? order : compare_names(x, y);
}

static int compare_total(const void *a, const void *b)
{
	const struct sp_row *x = a, *y = b;
	int order = compare_weights(&x->total, &y->total);
	order = order ? order : compare_weights(&x->self, &y->self);
	return order ? order : compare_names(x, y);
}

static bool make_rows(const struct profile_source *source, const struct tallies *tallies,
		      struct arena *arena, struct sp_profile *profile)
{
	double n_eff = weight_sums_effective(&source->whole);
	struct sp_row *rows = arena_alloc(arena, tallies->count * sizeof(*rows) + 1);
	size_t count = 0;
	if (!rows)
		return false;
	for (size_t i = 0; i < tallies->count; i++) {
		const struct tally *tally = &tallies->items[i];
		/* What is only ever called has no row of its own without totals. */
		if (!tally->self_samples && !(source->children && tally->total_samples))
			continue;
		struct sp_row *row = &rows[count++];
		name_row(source, tally, row);
		row->self = weigh(source, n_eff, tally->self_samples, tally->self_weight);
		row->total = row->self;
		if (source->children)
			row->total = weigh(source, n_eff, tally->total_samples,
					   tally->total_weight);
	}
	qsort(rows, count, sizeof(*rows), source->children ? compare_total : compare_self);
	profile->rows = rows;
	profile->row_count = count;
	return true;
}

bool profile_rows(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile)
{
	struct tallies tallies = {0};
	bool done = tally_all(&tallies, source) && make_rows(source, &tallies, arena, profile);
	tallies_deinit(&tallies);
	return done;
}
