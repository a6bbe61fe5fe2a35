/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "rows/tree_build.h"

/* Parent of nodes while they are listed. */
#define NO_NODE UINT32_MAX

/* Most losses of one event. */
#define LOSSES_MAX 10000

/* Waits are divided into parts of this share of the recording: each has its own cell. */
#define PARTS 500

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

/* One worker of a recording, while its cells are added. */
struct adder {
	const struct run *run;
	const struct worker *worker;
	const uint32_t *nodes;     /* result of trees_build() */
	struct leaf_weight *sums;  /* by leaf; NULL if leaves have no parts */
	unsigned int shift;        /* widest bins of the recording's cells */
	uint64_t base_ns;          /* subtracted from all times */
	uint64_t begin_ns, end_ns; /* begin and end of the recording */
	uint64_t part_ns;          /* length of a part */
	size_t parts_left;         /* limit of additional cells: undamaged waits of a thread do not overlap */
};

static bool add_cell(const struct adder *adder, struct cells *cells, struct sp_cell cell)
{
	cell.time_ns = cell.time_ns >> adder->shift << adder->shift;
	cell.time_ns -= cell.time_ns < adder->base_ns ? cell.time_ns : adder->base_ns;
	return cells_add(cells, &cell);
}

/* Adds a cell with time from cell.time_ns on as its weight: its parts follow each other. */
static bool add_time(struct adder *adder, struct cells *cells, struct sp_cell cell)
{
	uint64_t left = cell.weight, part = adder->part_ns;
	while (left > part && adder->parts_left && cell.time_ns >= adder->begin_ns &&
	       cell.time_ns < adder->end_ns && adder->end_ns - cell.time_ns > part) {
		cell.weight = part;
		if (!add_cell(adder, cells, cell))
			return false;
		left -= part;
		cell.time_ns += part;
		cell.samples = 0;
		adder->parts_left--;
	}
	cell.weight = left;
	return add_cell(adder, cells, cell);
}

/*
 * Adds cells for each state of the leaf of cell `of`. All cells of a leaf's state sum exactly to its weight.
 * Waits, and time without samples, last from the cell's time on. Returns false when out of memory.
 */
static bool add_states(struct adder *adder, struct cells *cells, const struct sp_cell *of)
{
	struct leaf_weight *weight = &adder->sums[of->node];
	struct leaf_part parts[TIME_STATES];
	size_t count = counted_leaf_parts(&adder->worker->counted, of->node, parts);
	double from = (double)weight->done / (double)weight->all;
	weight->done = weight_add(weight->done, of->weight);
	double to = (double)weight->done / (double)weight->all;
	for (size_t i = 0; i < count; i++) {
		struct sp_cell cell = *of;
		bool lasts = parts[i].time == TIME_BLOCKED || !of->samples;
		cell.node = adder->nodes[trees_paths_per_leaf(adder->run) * of->node + i];
		cell.samples = parts[i].samples ? of->samples : 0;
		cell.weight = weight_part(parts[i].weight, to) - weight_part(parts[i].weight, from);
		if (!(lasts ? add_time(adder, cells, cell) : add_cell(adder, cells, cell)))
			return false;
	}
	return true;
}

static void init_parts(struct adder *adder)
{
	const struct run *run = adder->run;
	const struct task_states *states = run->times.states;
	adder->begin_ns = states ? task_states_first_ns(states) : run->first_ns;
	adder->end_ns = states ? task_states_last_ns(states) : run->last_ns;
	adder->part_ns = (adder->end_ns - adder->begin_ns) / PARTS + 1;
	adder->parts_left = PARTS * (1 + (states ? task_states_count(states) :
						   adder->worker->counted.tasks.count));
}

static bool add_cells(struct adder *adder, struct merged *merged, const uint32_t *threads)
{
	const struct counted *counted = &adder->worker->counted;
	for (size_t i = 0; i < counted->cells.count; i++) {
		struct sp_cell cell = counted->cells.items[i];
		const struct leaf *leaf = &counted->leaves.items[cell.node];
		if (!leaf->weight)
			continue;
		uint32_t group = adder->worker->resolved.states[leaf->node].group;
		uint16_t event = adder->run->number_of[counted->groups.items[group].event];
		struct cells *cells = &merged->events[event].cells;
		cell.thread = threads[cell.thread];
		if (!cells_widen(cells, adder->shift))
			return false;
		if (!adder->sums)
			cell.node = adder->nodes[cell.node];
		if (!(adder->sums ? add_states(adder, cells, &cell) : add_cell(adder, cells, cell)))
			return false;
	}
	return true;
}

bool timeline_add_worker(struct merged *merged, const struct run *run, size_t recording,
		  const struct worker *worker, const uint32_t *nodes)
{
	const struct counted *counted = &worker->counted;
	unsigned int shift = widest_shift(run);
	CLEANUP_FREE uint32_t *threads = add_threads(merged, run, recording, counted);
	/* Weights of leaves differ from those of their cells. */
	bool has_parts = run->times.strata.count > 0 || run->times.weigher->parts_max > 0;
	CLEANUP_FREE struct leaf_weight *sums = has_parts ? sum_leaves(counted) : NULL;
	if (!threads || (has_parts && !sums))
		return false;
	struct adder adder = {
		.run = run,
		.worker = worker,
		.nodes = nodes,
		.sums = sums,
		.shift = shift,
		.base_ns = merged->recording_count > 1 ? run->first_ns >> shift << shift : 0,
	};
	init_parts(&adder);
	return add_cells(&adder, merged, threads);
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
	const struct task_states *states = analysis->states;
	uint64_t begin_ns = analysis->first_ns, end_ns = analysis->last_ns;
	if (states && task_states_first_ns(states) < begin_ns)
		begin_ns = task_states_first_ns(states);
	if (states && task_states_last_ns(states) > end_ns)
		end_ns = task_states_last_ns(states);
	timeline->losses = from->losses;
	from->losses = (struct timeline_losses){0};
	arrange_losses(&timeline->losses);
	timeline->shown = (struct sp_timeline){
		.begin_ns = begin_ns,
		.end_ns = merged->recording_count > 1 ? merged->longest_ns : end_ns,
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

bool sp_analysis_state_times(const struct sp_analysis *analysis, size_t thread, uint64_t begin_ns,
			     uint64_t width_ns, size_t count, struct sp_thread_times *ret)
{
	const struct task_states *states = analysis->states;
	assert(thread < analysis->threads.count);
	const struct sp_timeline_thread *of = &analysis->threads.items[thread];
	size_t lifetimes = 0;
	bool found = false;
	size_t first = states ? task_states_find(states, (uint32_t)of->tid, &lifetimes) : 0;
	memset(ret, 0, count * sizeof(*ret));
	for (size_t i = first; i < first + lifetimes; i++) {
		if (task_states_totals(states, i)->pid != (uint32_t)of->pid)
			continue;
		found = true;
		for (size_t bin = 0; bin < count; bin++) {
			uint64_t from_ns = begin_ns + bin * width_ns;
			struct task_totals totals = {0};
			task_states_window(states, i, from_ns, from_ns + width_ns, &totals);
			ret[bin].running_ns += totals.running_ns;
			ret[bin].runnable_ns += totals.runnable_ns;
			ret[bin].blocked_ns += totals.blocked_ns;
			ret[bin].unknown_ns += totals.unknown_ns;
		}
	}
	return found;
}
