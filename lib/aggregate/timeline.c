/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aggregate/timeline.h"

#include <stdlib.h>
#include "aggregate/leaf_states.h"
#include "base/cleanup.h"

/* Parent of nodes while they are listed. */
#define NO_NODE UINT32_MAX

/* Most losses of one event. */
#define LOSSES_MAX 10000

/* Returns the index of a worker's task among all threads; UINT32_MAX when out of memory. */
static uint32_t add_thread(struct merged *merged, const struct run *run, size_t recording,
			   const struct task *task)
{
	struct sp_analysis *analysis = merged->analysis;
	uint64_t key = (uint64_t)task->pid << 32 | task->tid;
	uint32_t next = (uint32_t)analysis->threads.count;
	uint32_t *index = u64map_put(&merged->thread_of, key, next, NULL);
	if (!index || !vec_reserve(&analysis->threads, analysis->threads.count + 1))
		return UINT32_MAX;
	/* A thread of an earlier recording may have the same pid and tid. */
	if (*index < next && analysis->threads.items[*index].recording == recording)
		return *index;
	const char *name = machine_span(run->machine, task->pid, task->tid, UINT64_MAX - 1).name;
	const char *comm = strtab_add(&analysis->strings, name);
	if (!comm)
		return UINT32_MAX;
	*index = next;
	*vec_push(&analysis->threads) = (struct sp_timeline_thread){
		.recording = recording,
		.pid = (int32_t)task->pid,
		.tid = (int32_t)task->tid,
		.comm = comm,
	};
	return next;
}

/* Returns the threads of a worker's tasks, which the caller frees; NULL when out of memory. */
static uint32_t *add_threads(struct merged *merged, const struct run *run, size_t recording,
			     const struct counted *counted)
{
	CLEANUP_FREE uint32_t *threads = calloc(counted->tasks.count + 1, sizeof(*threads));
	for (size_t i = 0; threads && i < counted->tasks.count; i++) {
		threads[i] = add_thread(merged, run, recording, &counted->tasks.items[i]);
		if (threads[i] == UINT32_MAX)
			return NULL;
	}
	return take_ptr(threads);
}

static unsigned int widest_shift(const struct run *run)
{
	unsigned int shift = 0;
	for (size_t i = 0; i < run->worker_count; i++)
		if (run->workers[i].counted.cells.shift > shift)
			shift = run->workers[i].counted.cells.shift;
	return shift;
}

unsigned int timeline_bin_shift(const struct merged *merged)
{
	unsigned int shift = 0;
	for (size_t i = 0; i < merged->event_count; i++)
		if (merged->events[i].cells.shift > shift)
			shift = merged->events[i].cells.shift;
	return shift;
}

/* Weight of a leaf's cells before scaling: of all, and of those that were scaled. */
struct leaf_weight {
	uint64_t all, done;
};

/* Returns the weights by leaf, which the caller frees; NULL when out of memory. */
static struct leaf_weight *sum_leaves(const struct counted *counted)
{
	struct leaf_weight *sums = calloc(counted->leaves.count + 1, sizeof(*sums));
	for (size_t i = 0; sums && i < counted->cells.count; i++) {
		const struct sp_cell *cell = &counted->cells.items[i];
		sums[cell->node].all = weight_add(sums[cell->node].all, cell->weight);
	}
	return sums;
}

/*
 * Adds a cell for each part of the leaf of cell `of`. All cells of a part sum exactly to its weight. Returns
 * false when out of memory.
 */
static bool add_parts(struct cells *cells, const struct sp_cell *of, struct leaf_weight *weight,
		      const uint32_t *nodes, const struct resolved *resolved)
{
	struct leaf_part parts[TIME_STATES];
	size_t count = leaf_parts(resolved, of->node, parts);
	double from = (double)weight->done / (double)weight->all;
	weight->done = weight_add(weight->done, of->weight);
	double to = (double)weight->done / (double)weight->all;
	for (size_t i = 0; i < count; i++) {
		struct sp_cell cell = *of;
		double ns = (double)parts[i].weight;
		cell.node = nodes[TIME_STATES * (size_t)of->node + i];
		cell.samples = i ? 0 : of->samples;
		cell.weight = (uint64_t)(ns * to + 0.5) - (uint64_t)(ns * from + 0.5);
		if (!cells_add(cells, &cell))
			return false;
	}
	return true;
}

bool timeline_add_worker(struct merged *merged, const struct run *run, size_t recording,
		  const struct worker *worker, const uint32_t *nodes)
{
	const struct counted *counted = &worker->counted;
	unsigned int shift = widest_shift(run);
	uint64_t first_ns = run->first_ns >> shift << shift;
	uint64_t base_ns = merged->recording_count > 1 ? first_ns : 0;
	CLEANUP_FREE uint32_t *threads = add_threads(merged, run, recording, counted);
	CLEANUP_FREE struct leaf_weight *sums = run->work.mode ? sum_leaves(counted) : NULL;
	if (!threads || (run->work.mode && !sums))
		return false;
	for (size_t i = 0; i < counted->cells.count; i++) {
		struct sp_cell cell = counted->cells.items[i];
		const struct leaf *leaf = &counted->leaves.items[cell.node];
		if (!leaf->samples && !leaf->weight)
			continue;
		uint32_t group = worker->resolved.states[leaf->node].group;
		uint16_t event = run->number_of[counted->groups.items[group].event];
		struct cells *cells = &merged->events[event].cells;
		cell.thread = threads[cell.thread];
		cell.time_ns = cell.time_ns >> shift << shift;
		cell.time_ns -= cell.time_ns < base_ns ? cell.time_ns : base_ns;
		if (!cells_widen(cells, shift))
			return false;
		if (run->work.mode) {
			if (!add_parts(cells, &cell, &sums[cell.node], nodes, &worker->resolved))
				return false;
			continue;
		}
		cell.node = nodes[cell.node];
		if (!cells_add(cells, &cell))
			return false;
	}
	return true;
}

bool timeline_add_losses(struct merged *merged, const struct run *run)
{
	const struct sp_losses *losses = run->sideband.losses;
	uint64_t base_ns = merged->recording_count > 1 ? run->first_ns : 0;
	for (size_t i = 0; i < sp_losses_moment_count(losses); i++) {
		const struct sp_loss *moment = sp_losses_moment(losses, i);
		if (!moment->time_ns || moment->event >= run->event_count)
			continue;
		uint16_t event = run->number_of[moment->event];
		struct sp_timeline_loss *loss = vec_push(&merged->events[event].losses);
		if (!loss)
			return false;
		uint64_t time_ns = moment->time_ns - (moment->time_ns < base_ns ? moment->time_ns : base_ns);
		*loss = (struct sp_timeline_loss){time_ns, moment->lost};
	}
	return true;
}

static int compare_losses(const void *a, const void *b)
{
	const struct sp_timeline_loss *x = a, *y = b;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Orders losses by time, and adds up neighbours if there are too many. */
static void arrange_losses(struct timeline_losses *losses)
{
	size_t step = (losses->count + LOSSES_MAX - 1) / LOSSES_MAX, count = 0;
	if (!losses->count)
		return;
	qsort(losses->items, losses->count, sizeof(*losses->items), compare_losses);
	for (size_t i = 0; i < losses->count; i++) {
		struct sp_timeline_loss loss = losses->items[i];
		if (i % step)
			loss.lost += losses->items[count - 1].lost;
		else
			count++;
		losses->items[count - 1] = loss;
	}
	losses->count = count;
}

/* Lists the tree's nodes depth first, with their parents. False when out of memory. */
static bool list_nodes(struct event_timeline *timeline, const struct sp_tree_node *root)
{
	struct { VEC(struct sp_timeline_node); } open = {0};
	struct sp_timeline_node *first = vec_push(&open);
	bool ok = first;
	if (first)
		*first = (struct sp_timeline_node){.node = root};
	while (ok && open.count) {
		struct sp_timeline_node next = open.items[--open.count];
		struct sp_timeline_node *listed = vec_push(&timeline->nodes);
		uint32_t index = (uint32_t)timeline->nodes.count - 1;
		ok = listed && u64map_put(&timeline->index_of, (uintptr_t)next.node, index, NULL) &&
		     vec_reserve(&open, open.count + next.node->child_count);
		if (!ok)
			break;
		*listed = next;
		for (size_t i = next.node->child_count; i-- > 0;)
			*vec_push(&open) = (struct sp_timeline_node){&next.node->children[i], index};
	}
	vec_deinit(&open);
	return ok;
}

/* Adds a node for the children of `parent` that the tree leaves out. NO_NODE when out of memory. */
static uint32_t add_left_out(struct event_timeline *timeline, uint32_t parent, uint32_t *left_out)
{
	if (left_out[parent] != NO_NODE)
		return left_out[parent];
	struct sp_timeline_node *node = vec_push(&timeline->nodes);
	if (!node)
		return NO_NODE;
	*node = (struct sp_timeline_node){.parent = parent};
	left_out[parent] = (uint32_t)timeline->nodes.count - 1;
	return left_out[parent];
}

/* Converts the cells' nodes of the paths to nodes of the timeline. False when out of memory. */
static bool place_cells(struct event_timeline *timeline, const struct radix *radix,
			const struct sp_tree_node *const *last)
{
	size_t listed = timeline->nodes.count;
	CLEANUP_FREE uint32_t *order = radix_order(radix);
	CLEANUP_FREE uint32_t *shown = calloc(radix->count + 1, sizeof(*shown));
	CLEANUP_FREE uint32_t *left_out = malloc((listed + 1) * sizeof(*left_out));
	if (!order || !shown || !left_out)
		return false;
	for (size_t i = 0; i < listed; i++)
		left_out[i] = NO_NODE;
	/* Each node's nearest ancestor in the tree, or the node itself. */
	for (size_t i = 0; i < radix->count; i++) {
		uint32_t at = order[i], parent = radix->items[at].parent;
		if (last[at])
			shown[at] = *u64map_find(&timeline->index_of, (uintptr_t)last[at]);
		else if (parent != RADIX_NONE)
			shown[at] = shown[parent];
	}
	for (size_t i = 0; i < timeline->cells.count; i++) {
		struct sp_cell *cell = &timeline->cells.items[i];
		uint32_t node = shown[cell->node];
		cell->node = last[cell->node] ? node : add_left_out(timeline, node, left_out);
		if (cell->node == NO_NODE)
			return false;
	}
	return true;
}

bool timeline_make(struct merged *merged, size_t event, const struct sp_tree_node *const *last)
{
	struct sp_analysis *analysis = merged->analysis;
	struct merged_event *from = &merged->events[event];
	struct event_timeline *timeline = &analysis->timelines[event];
	/* All events have bins of one width. */
	if (!cells_widen(&from->cells, timeline_bin_shift(merged)) ||
	    !list_nodes(timeline, analysis->profiles[event].tree))
		return false;
	timeline->cells = from->cells;
	from->cells = (struct cells){.shift = timeline->cells.shift};
	if (!place_cells(timeline, &from->paths.radix, last) || !cells_sort(&timeline->cells))
		return false;
	timeline->losses = from->losses;
	from->losses = (struct timeline_losses){0};
	arrange_losses(&timeline->losses);
	timeline->shown = (struct sp_timeline){
		.begin_ns = analysis->first_ns,
		.end_ns = merged->recording_count > 1 ? merged->longest_ns : analysis->last_ns,
		.width_ns = UINT64_C(1) << timeline->cells.shift,
		.threads = analysis->threads.items,
		.thread_count = analysis->threads.count,
		.nodes = timeline->nodes.items,
		.node_count = timeline->nodes.count,
		.cells = timeline->cells.items,
		.cell_count = timeline->cells.count,
		.losses = timeline->losses.items,
		.loss_count = timeline->losses.count,
	};
	return true;
}

void event_timeline_deinit(struct event_timeline *timeline)
{
	vec_deinit(&timeline->nodes);
	u64map_deinit(&timeline->index_of);
	cells_deinit(&timeline->cells);
	vec_deinit(&timeline->losses);
}

const struct sp_timeline *sp_analysis_timeline(const struct sp_analysis *analysis, size_t index)
{
	return analysis->timelines ? &analysis->timelines[index].shown : NULL;
}
