/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/make_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "samples/sample_values.h"
#include "times/wait_reason.h"

/* Sums of a chain's node, and its leaves. */
struct node_sums {
	uint64_t samples, weight; /* sums of all leaves of this node and its descendants */
	uint32_t leaf;            /* first leaf of the node; UINT32_MAX: none */
	uint32_t group;           /* group of rows that the node's samples belong to */
};

/* A node on the current path, and the number of rows that were open before it. */
struct path_node {
	uint32_t node;
	size_t rows;
	bool reached; /* the path up to this node contains the function of --callers or --callees */
};

struct summing {
	const struct resolved *resolved;
	struct summed *summed;
	const struct labels *labels;
	struct node_sums *nodes;
	struct state_sums *times; /* by node; NULL: leaves have no times */
	/* Times of the node or leaf while its rows are opened; NULL: none. */
	const struct state_sums *current;
	uint32_t *next_leaf;
	VEC(struct path_node) open; /* current path from the root */
	VEC(uint32_t) rows; /* rows of the functions on the current path */
	/* By node of the current path: weights of it and its descendants by part, if
	 * total_parts. */
	VEC(struct part_sums) parts;
	bool self_parts, total_parts; /* rows need self, and total, by part */
	bool failed; /* out of memory for the current path */
};

static void summing_deinit(struct summing *summing)
{
	free(summing->nodes);
	free(summing->times);
	free(summing->next_leaf);
	vec_deinit(&summing->open);
	vec_deinit(&summing->rows);
	vec_deinit(&summing->parts);
}

/* Returns whether the walk ends early: out of memory, or cancelled. */
static bool is_ended(const struct summing *summing)
{
	return summing->failed || summed_failed(summing->summed) ||
	       ctx_cancelled(summing->resolved->counted->work->ctx);
}

/* Converts a group of samples to a group of rows; `values`: values that depend on the leaf. */
static uint32_t row_group(struct summing *summing, uint32_t of, const struct leaf_values *values)
{
	const struct counted *counted = summing->resolved->counted;
	struct summed *summed = summing->summed;
	const bool *keys = counted->work->keys->rows;
	struct group group = counted->groups.items[of];
	if (!keys[SP_KEY_COMM])
		group.comm = NULL;
	group.stratum = (struct stratum_id){0};
	group.syscall = group.kernel_chain = 0;
	group.waker = NULL;
	group.process_pid = 0;
	group.process_ns = 0;
	group.detail = row_values(counted, &summed->details, group.detail, values);
	return groups_add(&summed->groups, &group);
}

/*
 * Adds leaves to their nodes, and adds the sums of each node to its parent. Also sets the nodes'
 * groups.
 */
static void sum_nodes(struct summing *summing)
{
	const struct resolved *resolved = summing->resolved;
	const struct counted *counted = resolved->counted;
	const struct radix *radix = &counted->chains.radix;
	const struct leaf_values none = {UINT32_MAX, DETAIL_NONE, DETAIL_NONE};
	for (size_t i = 0; i < radix->count; i++)
		summing->nodes[i].leaf = UINT32_MAX;
	for (uint32_t i = 0; i < counted->leaves.count; i++) {
		const struct leaf *leaf = &counted->leaves.items[i];
		struct node_sums *node = &summing->nodes[leaf->node];
		summing->next_leaf[i] = node->leaf;
		node->leaf = i;
		node->samples += leaf->samples;
		node->weight = weight_add(node->weight, leaf->weight);
		if (summing->times && leaf_is_shown(leaf))
			state_sums_add(&summing->times[leaf->node], &counted->times.items[i].sums);
	}
	for (size_t i = radix->count; i-- > 0;) {
		uint32_t at = resolved->order[i], parent = radix->items[at].parent;
		if (parent == RADIX_NONE)
			continue;
		summing->nodes[parent].samples += summing->nodes[at].samples;
		summing->nodes[parent].weight = weight_add(summing->nodes[parent].weight,
							   summing->nodes[at].weight);
		if (summing->times)
			state_sums_add(&summing->times[parent], &summing->times[at]);
	}
	for (size_t i = 0; i < radix->count; i++) {
		uint32_t at = resolved->order[i];
		const struct radix_node *node = &radix->items[at];
		summing->nodes[at].group = node->parent == RADIX_NONE
						   ? row_group(summing, root_group(node), &none)
						   : summing->nodes[node->parent].group;
	}
}

static void open_row(struct summing *summing, const struct node_sums *sums, uint32_t function)
{
	struct tallies *tallies = &summing->summed->tallies;
	uint32_t row = tallies_row(tallies, sums->group, function);
	if (summing->current)
		tallies_open_times(tallies, row, summing->current);
	tallies_open(tallies, row, sums->samples, sums->weight);
	*vec_add(&summing->rows, &summing->failed) = row;
}

static void count_self(struct summing *summing, const struct node_sums *sums)
{
	struct tallies *tallies = &summing->summed->tallies;
	uint32_t row = *vec_last(&summing->rows);
	tallies_self(tallies, row, sums->samples, sums->weight);
	if (summing->current)
		tallies_self_times(tallies, row, summing->current);
}

/*
 * Opens rows for the functions of a frame, the outermost first. *reached: the function of --callers
 * or --callees was among these or earlier functions. Only rows above it (callers), or it and rows
 * below it (callees), are opened. With --callers, all stacks to the function count as self of its
 * direct caller, or of the row for stacks without a caller.
 */
static void open_frame(struct summing *summing, const struct node_sums *sums, uint32_t frame,
		       bool *reached)
{
	const struct work *work = summing->resolved->counted->work;
	const struct frame_labels *of = &summing->labels->frames.items[frame];
	const struct label *labels = summing->labels->items.items;
	bool callers = work->options->stacks.callers, callees = work->options->stacks.callees;
	for (uint32_t i = of->first; i < of->first + of->count && !(callers && *reached); i++) {
		if ((callers || callees) && !*reached)
			*reached = work->matches->functions[labels[i].node] & MATCH_ROOT;
		if (callers && *reached) {
			if (!summing->rows.count)
				open_row(summing, sums, work->matches->no_caller);
			count_self(summing, sums);
		} else if (!callees || *reached) {
			open_row(summing, sums, labels[i].row);
		}
	}
}

/* Weights by part of a node, or of a leaf from its last part on. */
struct closed_parts {
	const struct part_sums *node; /* NULL: a leaf */
	uint32_t last;
};

static void add_parts(const struct summing *summing, uint64_t *to, const struct closed_parts *from)
{
	const struct part_weight *parts = summing->resolved->counted->parts.items;
	if (from->node)
		part_sums_add(to, from->node);
	for (uint32_t at = from->last; at; at = parts[at - 1].earlier)
		to[parts[at - 1].part] += parts[at - 1].weight;
}

/* Closes rows until only `count` are open. */
static void close_rows(struct summing *summing, size_t count)
{
	while (summing->rows.count > count)
		tallies_close(&summing->summed->tallies,
			      summing->rows.items[--summing->rows.count]);
}

/* The same. Adds `parts`, of the node or leaf that opened rows, to those not open before. */
static void close_rows_adding(struct summing *summing, size_t count,
			      const struct closed_parts *parts)
{
	struct tallies *tallies = &summing->summed->tallies;
	while (summing->rows.count > count) {
		uint32_t row = *vec_last(&summing->rows);
		close_rows(summing, summing->rows.count - 1);
		if (tallies->items[row].open)
			continue;
		uint64_t *to = batches_row(&tallies->total_batches, INTERVAL_PARTS, row);
		if (to)
			add_parts(summing, to, parts);
		else
			summing->failed = true;
	}
}

/* Opens rows for all calls of a node. */
static void open_node(struct summing *summing, uint32_t at)
{
	const struct resolved *resolved = summing->resolved;
	const struct counted *counted = resolved->counted;
	const struct radix_node *node = &counted->chains.radix.items[at];
	bool reached = summing->open.count && vec_last(&summing->open)->reached;
	struct path_node *slot = vec_add(&summing->open, &summing->failed);
	*slot = (struct path_node){at, summing->rows.count, reached};
	if (summing->total_parts)
		*vec_add(&summing->parts, &summing->failed) = (struct part_sums){0};
	/* The filters reject all stacks through this node. */
	if (matches_by_stack(counted->work->matches) && !summing->nodes[at].samples &&
	    !summing->nodes[at].weight)
		return;
	summing->current = summing->times ? &summing->times[at] : NULL;
	for (uint32_t i = node->run; i < node->run + node->length; i++)
		if (resolved->frames[i] < WORD_GAP)
			open_frame(summing, &summing->nodes[at], resolved->frames[i],
				   &slot->reached);
}

static void close_node(struct summing *summing)
{
	size_t rows = vec_last(&summing->open)->rows;
	if (summing->parts.count) { /* else: there are none, or memory is exhausted */
		const struct part_sums *parts = vec_last(&summing->parts);
		close_rows_adding(summing, rows, &(struct closed_parts){.node = parts});
		if (--summing->parts.count)
			part_sums_add(vec_last(&summing->parts)->weight, parts);
	}
	close_rows(summing, rows);
	summing->open.count--;
}

/*
 * Adds a leaf's sums to the total of its functions, and to self of the innermost one. Closes all
 * rows but the first `rows`.
 */
static void add_leaf(struct summing *summing, const struct node_sums *sums, const struct leaf *leaf,
		     bool reached, size_t rows)
{
	const struct work *work = summing->resolved->counted->work;
	open_frame(summing, sums, answer_frame(leaf->answer), &reached);
	if (!work->options->stacks.callers)
		count_self(summing, sums);
	const struct closed_parts parts = {.last = leaf->last_part};
	if (summing->self_parts) {
		uint64_t *self = batches_row(&summing->summed->tallies.self_batches,
					     INTERVAL_PARTS, *vec_last(&summing->rows));
		if (self)
			add_parts(summing, self, &parts);
		else
			summing->failed = true;
	}
	if (summing->total_parts) {
		if (summing->parts.count)
			add_parts(summing, vec_last(&summing->parts)->weight, &parts);
		close_rows_adding(summing, rows, &parts);
	}
	close_rows(summing, rows);
}

static void add_leaves(struct summing *summing, uint32_t at)
{
	const struct counted *counted = summing->resolved->counted;
	const size_t rows = summing->rows.count;
	const bool reached = vec_last(&summing->open)->reached;
	for (uint32_t i = summing->nodes[at].leaf; i != UINT32_MAX; i = summing->next_leaf[i]) {
		const struct leaf *leaf = &counted->leaves.items[i];
		if (!leaf_is_shown(leaf))
			continue;
		const struct node_sums sums = {.samples = leaf->samples, .weight = leaf->weight,
					       .group = summing->nodes[at].group};
		summing->current = summing->times ? &counted->times.items[i].sums : NULL;
		add_leaf(summing, &sums, leaf, reached, rows);
	}
}

static void sum_rows(struct summing *summing)
{
	const struct resolved *resolved = summing->resolved;
	const struct radix *radix = &resolved->counted->chains.radix;
	for (size_t i = 0; i < radix->count && !is_ended(summing); i++) {
		uint32_t at = resolved->order[i], parent = radix->items[at].parent;
		while (summing->open.count && vec_last(&summing->open)->node != parent)
			close_node(summing);
		open_node(summing, at);
		add_leaves(summing, at);
	}
	while (summing->open.count)
		close_node(summing);
}

/* Returns the function that matches --parent, nearest to the sampled one; UINT32_MAX: none. */
static uint32_t parent_of(const struct resolved *resolved, const struct leaf *leaf)
{
	const struct counted *counted = resolved->counted;
	const uint32_t *parents = counted->work->matches->parents;
	uint32_t frame = answer_frame(leaf->answer);
	if (parents[frame] != UINT32_MAX)
		return parents[frame];
	for (uint32_t at = leaf->node; at != RADIX_NONE;) {
		const struct radix_node *node = &counted->chains.radix.items[at];
		for (uint32_t i = node->run + node->length; i-- > node->run;) {
			frame = resolved->frames[i];
			if (frame < WORD_GAP && parents[frame] != UINT32_MAX)
				return parents[frame];
		}
		at = node->parent;
	}
	return UINT32_MAX;
}

/* Kernel frames of a leaf's chain, from the innermost to the outermost. */
struct kernel_frames {
	const char *call; /* the system call that the outermost known one enters; NULL: none */
	bool any, is_entry; /* there are frames; one enters and leaves all system calls */
	bool unnamed;     /* names of some are unknown */
};

static void add_kernel_frame(const struct resolved *resolved, uint32_t frame,
			     struct kernel_frames *to)
{
	static const char *const entries[] = {"do_syscall_64", "do_int80_", "entry_SYSCALL_",
					      "x64_sys_call", "invoke_syscall", "el0_svc"};
	const struct frame *of = &resolved->counted->work->names->frames.items[frame];
	if (of->cpumode != PERF_RECORD_MISC_KERNEL)
		return;
	to->any = true;
	if (!symbol_is_named(of->symbol)) {
		to->unnamed = true;
		return;
	}
	to->call = syscall_of_function(of->symbol->name) ?: to->call;
	for (size_t i = 0; i < count_of(entries); i++)
		to->is_entry |= !strncmp(of->symbol->name, entries[i], strlen(entries[i]));
}

/*
 * Returns the word of SP_KEY_SYSCALL: the call that kernel functions of the chain enter, else the
 * recorded number's. DETAIL_NONE: unknown, or out of memory.
 */
static uint64_t syscall_word(struct summing *summing, const struct leaf *leaf)
{
	const struct resolved *resolved = summing->resolved;
	struct counted *counted = resolved->counted;
	const struct work *work = counted->work;
	const struct group *group = &counted->groups.items[resolved->states[leaf->node].group];
	const struct perf_event_attr *attr =
		&work->read->sideband.layout->events[group->event].attr;
	const char *arch = sp_reader_info(work->read->reader)->arch;
	struct kernel_frames frames = {0};
	char text[64];
	add_kernel_frame(resolved, answer_frame(leaf->answer), &frames);
	bool leaf_is_kernel = frames.any;
	for (uint32_t at = group->kernel_chain ? group->kernel_chain - 1 : leaf->node;
	     at != RADIX_NONE;) {
		const struct radix_node *node = &counted->chains.radix.items[at];
		for (uint32_t i = node->run + node->length; i-- > node->run;)
			if (resolved->frames[i] < WORD_GAP)
				add_kernel_frame(resolved, resolved->frames[i], &frames);
		at = node->parent;
	}
	if (frames.call)
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(frames.call, "."), frames.call);
	else if (group->syscall && syscall_of_number(arch, group->syscall - 1))
		snprintf(text, sizeof(text), "%s", syscall_of_number(arch, group->syscall - 1));
	else if (group->syscall)
		snprintf(text, sizeof(text), "syscall %u", group->syscall - 1);
	else if (frames.is_entry)
		snprintf(text, sizeof(text), "[entry or exit]");
	else if (!leaf->samples || frames.unnamed || work->options->stacks.own_code ||
		 (frames.any && work->options->stacks.max_frames) ||
		 (!frames.any && work->times->roles[group->event] != ROLE_ON_CPU) ||
		 (leaf_is_kernel && (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN) ||
				     attr->exclude_callchain_kernel)))
		return DETAIL_NONE;
	else
		snprintf(text, sizeof(text), "[no system call]");
	const char *word = strtab_add(&counted->texts, text);
	summing->failed |= !word;
	return word ? (uintptr_t)word : DETAIL_NONE;
}

/*
 * Adds a part of a leaf to rows with a group that depends on the leaf (keys parent, state and
 * syscall). Each chain is therefore walked alone.
 */
static void sum_part(struct summing *summing, const struct leaf *leaf, const struct leaf_part *part)
{
	const struct resolved *resolved = summing->resolved;
	const struct counted *counted = resolved->counted;
	const struct radix_node *nodes = counted->chains.radix.items;
	struct node_sums sums = {.samples = part->samples, .weight = part->weight};
	struct leaf_values values = {UINT32_MAX, part->state, DETAIL_NONE};
	bool reached = false;
	if (counted->work->keys->rows[SP_KEY_PARENT] && counted->work->matches)
		values.parent = parent_of(resolved, leaf);
	if (counted->work->keys->rows[SP_KEY_SYSCALL])
		values.syscall = syscall_word(summing, leaf);
	summing->current = summing->times ? &part->times : NULL;
	sums.group = row_group(summing, resolved->states[leaf->node].group, &values);
	for (uint32_t at = leaf->node; at != RADIX_NONE; at = nodes[at].parent)
		*vec_add(&summing->open, &summing->failed) = (struct path_node){.node = at};
	for (; summing->open.count; summing->open.count--) {
		const struct radix_node *node = &nodes[vec_last(&summing->open)->node];
		for (uint32_t i = node->run; i < node->run + node->length; i++)
			if (resolved->frames[i] < WORD_GAP)
				open_frame(summing, &sums, resolved->frames[i], &reached);
	}
	add_leaf(summing, &sums, leaf, reached, 0);
}

static void sum_leaves(struct summing *summing)
{
	const struct counted *counted = summing->resolved->counted;
	for (uint32_t i = 0; i < counted->leaves.count && !is_ended(summing); i++) {
		struct leaf_part parts[TIME_STATES];
		for (size_t j = counted_leaf_parts(counted, i, parts); j-- > 0;)
			sum_part(summing, &counted->leaves.items[i], &parts[j]);
	}
}

/* Returns for each node the bits (MATCH_*) of all functions from the root to it. */
static uint8_t *match_nodes(const struct resolved *resolved)
{
	const struct radix *radix = &resolved->counted->chains.radix;
	const uint8_t *frames = resolved->counted->work->matches->frames;
	uint8_t *bits = calloc(radix->count + 1, sizeof(*bits));
	for (size_t i = 0; bits && i < radix->count; i++) {
		uint32_t at = resolved->order[i];
		const struct radix_node *node = &radix->items[at];
		if (node->parent != RADIX_NONE)
			bits[at] = bits[node->parent];
		for (uint32_t j = node->run; j < node->run + node->length; j++)
			if (resolved->frames[j] < WORD_GAP)
				bits[at] |= frames[resolved->frames[j]];
	}
	return bits;
}

/*
 * Returns whether the leaf passes the filters by function names. `nodes`: result of match_nodes();
 * NULL: no filter depends on callers.
 */
static bool is_shown(const struct resolved *resolved, const struct leaf *leaf, const uint8_t *nodes)
{
	const struct work *work = resolved->counted->work;
	uint32_t frame = answer_frame(leaf->answer);
	if ((work->keeps || leaf->answer & ANSWER_PENDING) &&
	    !work->labels->frames.items[frame].shown)
		return false;
	return !nodes || matches_pass(work->matches, nodes[leaf->node] |
						     work->matches->frames[frame]);
}

bool rows_filter_code(const struct analysis_options *options)
{
	const struct sp_filter *filter = &options->filter;
	return filter->dsos.count || filter->symbols.count || filter->focus.count ||
	       filter->ignore.count || options->stacks.callers || options->stacks.callees;
}

/*
 * Applies the filters that need function names: counts the pending samples as shown, or drops them.
 * Returns false when out of memory.
 */
static bool show_pending(const struct resolved *resolved)
{
	struct counted *counted = resolved->counted;
	bool by_stack = matches_by_stack(counted->work->matches);
	CLEANUP_FREE uint8_t *nodes = by_stack ? match_nodes(resolved) : NULL;
	if (by_stack && !nodes)
		return false;
	for (size_t i = 0; i < counted->leaves.pending.count; i++) {
		struct leaf *leaf = &counted->leaves.items[i];
		uint16_t event = counted->groups.items[resolved->states[leaf->node].group].event;
		const struct weight_sums *pending = &counted->leaves.pending.items[i];
		/* Later parts of a wait have time, but no sample. */
		if (!pending->samples && !pending->weight)
			continue;
		if (is_shown(resolved, leaf, nodes))
			weight_sums_merge(&counted->events[event].shown, pending);
		else
			leaf->samples = leaf->weight = 0;
	}
	bool drops_rests = counted->work->keeps && rows_filter_code(counted->work->options);
	for (size_t i = 0; drops_rests && i < counted->times.count; i++)
		if (counted->times.items[i].is_rest)
			counted->leaves.items[i].samples = counted->leaves.items[i].weight = 0;
	return true;
}

struct sp_error *rows_make(const struct resolved *resolved, struct summed *summed)
{
	const struct counted *counted = resolved->counted;
	const struct work *work = counted->work;
	CLEANUP(summing_deinit)
	struct summing summing = {.resolved = resolved, .summed = summed, .labels = work->labels};
	memcpy(summed->tallies.keys, work->keys->rows, sizeof(summed->tallies.keys));
	summed->details.width = work->keys->detail_count;
	NEED(show_pending(resolved));
	if (work->options->rows.none)
		return NULL;
	if (counted->times.count && work->times->weigher->of_threads)
		NEED(summing.times = calloc(counted->chains.radix.count + 1,
					    sizeof(*summing.times)));
	summing.nodes = calloc(counted->chains.radix.count + 1, sizeof(*summing.nodes));
	summing.next_leaf = calloc(counted->leaves.count + 1, sizeof(*summing.next_leaf));
	NEED(summing.nodes && summing.next_leaf && tallies_reserve(&summed->tallies, 1) &&
	     vec_reserve(&summing.open, 1) && vec_reserve(&summing.rows, 1) &&
	     vec_reserve(&summing.parts, 1));
	summing.self_parts = work->part_ns && work->options->rows.between;
	summing.total_parts = summing.self_parts && work->options->rows.children &&
			      work->options->rows.between == SP_BETWEEN_ALL;
	if (work->times->by_state || work->keys->rows[SP_KEY_SYSCALL] ||
	    (work->keys->rows[SP_KEY_PARENT] && work->matches)) {
		sum_leaves(&summing);
	} else {
		sum_nodes(&summing);
		sum_rows(&summing);
	}
	NEED(!summing.failed && !summed_failed(summed));
	return NULL;
}

void summed_deinit(struct summed *summed)
{
	groups_deinit(&summed->groups);
	details_deinit(&summed->details);
	tallies_deinit(&summed->tallies);
}

void workers_deinit(struct workers *workers)
{
	vec_each (worker, workers) {
		counted_deinit(&worker->counted);
		resolved_deinit(&worker->resolved);
		summed_deinit(&worker->summed);
	}
	free(workers->items);
}

bool workers_next_leaf(const struct workers *workers, struct worker_leaf *at)
{
	for (; at->next_worker < workers->count; at->next_worker++, at->next_leaf = 0) {
		at->worker = &workers->items[at->next_worker];
		if (at->next_leaf < at->worker->counted.leaves.count) {
			at->leaf = &at->worker->counted.leaves.items[at->next_leaf++];
			return true;
		}
	}
	return false;
}
