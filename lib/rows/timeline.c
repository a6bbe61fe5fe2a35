/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/timeline.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/vec.h"
#include "rows/tree_build.h"

/* Parent of nodes while they are listed. */
#define NO_NODE UINT32_MAX

/* Most losses of one event. */
#define LOSSES_MAX 10000

/* Returns the index of a worker's task among all threads; UINT32_MAX when out of memory. */
static uint32_t add_thread(struct merged *merged, const struct merged_recording *of,
			   const struct work *work, const struct task *task)
{
	const struct machine *machine = work->read->machine;
	size_t recording = of - merged->recordings;
	struct sp_analysis *analysis = merged->analysis;
	uint64_t key = key_of_pair(task->pid, task->tid);
	uint32_t next = analysis->threads.count;
	uint32_t *index = u64map_put(&merged->thread_of, key, next, NULL);
	if (!index || !vec_reserve(&analysis->threads, analysis->threads.count + 1))
		return UINT32_MAX;
	/* A thread of an earlier recording may have the same pid and tid. */
	if (*index < next && analysis->threads.items[*index].recording == recording)
		return *index;
	const char *name = machine_span(machine, task->pid, task->tid, UINT64_MAX - 1).name;
	const char *comm = strtab_add(&analysis->strings, name);
	CLEANUP_FREE char *text = machine_process_text(machine, task->pid, UINT64_MAX - 1,
						       work->options->tree.command_lines);
	const char *process = text ? strtab_add(&analysis->strings, text) : NULL;
	if (!comm || !process)
		return UINT32_MAX;
	*index = next;
	*vec_push(&analysis->threads) = (struct sp_timeline_thread){
		.recording = recording,
		.pid = task->pid,
		.tid = task->tid,
		.comm = comm,
		.process = process,
	};
	return next;
}

/* Returns the threads of a worker's tasks, which the caller frees; NULL when out of memory. */
static uint32_t *add_threads(struct merged *merged, const struct merged_recording *recording,
			     const struct counted *counted)
{
	CLEANUP_FREE uint32_t *threads = calloc(counted->tasks.count + 1, sizeof(*threads));
	for (size_t i = 0; threads && i < counted->tasks.count; i++) {
		threads[i] = add_thread(merged, recording, counted->work, &counted->tasks.items[i]);
		if (threads[i] == UINT32_MAX)
			return NULL;
	}
	return take_ptr(threads);
}

static int compare_tasks(const void *left, const void *right)
{
	const struct task *const *a = left, *const *b = right;
	return u64_order((*a)->pid, (*b)->pid) ?: u64_order((*a)->tid, (*b)->tid);
}

bool timeline_begin_recording(struct merged *merged, const struct merged_recording *recording,
			      const struct workers *workers)
{
	size_t count = 0, added = 0;
	vec_each (worker, workers)
		count += worker->counted.tasks.count;
	CLEANUP_FREE const struct task **tasks = calloc(count + 1, sizeof(*tasks));
	for (size_t i = 0; tasks && i < workers->count; i++)
		vec_each (item, &workers->items[i].counted.tasks)
			tasks[added++] = item;
	if (tasks)
		qsort(tasks, count, sizeof(*tasks), compare_tasks);
	for (size_t i = 0; tasks && i < count; i++)
		if (add_thread(merged, recording, workers->work, tasks[i]) == UINT32_MAX)
			return false;
	return tasks;
}

static unsigned int widest_shift(const struct workers *workers)
{
	unsigned int shift = 0;
	vec_each (worker, workers)
		if (worker->counted.cells.shift > shift)
			shift = worker->counted.cells.shift;
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

/* Gets which part of its leaf's cells the next cell is: from 0 to 1. */
static void take_part(struct leaf_weight *leaf, uint64_t weight, double *from_ret, double *to_ret)
{
	double all = leaf->all ? (double)leaf->all : 1;
	*from_ret = (double)leaf->done / all;
	leaf->done = weight_add(leaf->done, weight);
	*to_ret = (double)leaf->done / all;
}

/* Begin and end of a recording; in modes of time with all known states. */
static struct sp_time_span span_of(const struct merged_recording *recording,
				   const struct task_states *states)
{
	return states ? (struct sp_time_span){task_states_first_ns(states),
					      task_states_last_ns(states)}
		      : recording->span;
}

/*
 * Adds cells for each state of the leaf of cell `of`. All cells of a leaf's state sum exactly to
 * its weight. Returns false when out of memory.
 */
static bool add_states(struct merged *merged, const struct worker *worker, const uint32_t *nodes,
		       struct leaf_weight *weight, struct timed_cell timed)
{
	const struct counted *counted = &worker->counted;
	const struct sp_cell of = timed.cell;
	struct leaf_part parts[TIME_STATES];
	size_t count = counted_leaf_parts(counted, of.node, parts);
	double from, to;
	take_part(weight, of.weight, &from, &to);
	if (!vec_reserve(&merged->timed, merged->timed.count + count))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct sp_cell *cell = &timed.cell;
		timed.state = parts[i].time;
		cell->node = nodes[trees_paths_per_leaf(merged->weigher) * of.node + i];
		cell->samples = parts[i].samples ? of.samples : 0;
		cell->weight = weight_part(parts[i].weight, to) -
			       weight_part(parts[i].weight, from);
		if (cell->weight || cell->samples)
			*vec_push(&merged->timed) = timed;
	}
	return true;
}

static uint32_t slice_of(const struct times *times, const struct task *task, uint64_t time_ns)
{
	size_t lifetime = task_states_lifetime(times->states, task->tid, time_ns);
	return lifetime < LIFETIME_NONE ? slices_at(&times->slices, lifetime, time_ns) : SLICE_NONE;
}

/* Adds the cells of a worker in a mode of time. Returns false when out of memory. */
static bool add_timed_cells(struct merged *merged, const struct worker *worker,
			    const uint32_t *nodes, const uint32_t *threads)
{
	const struct counted *counted = &worker->counted;
	const struct times *times = counted->work->times;
	CLEANUP_FREE struct leaf_weight *sums = sum_leaves(counted);
	if (!sums)
		return false;
	vec_each (cell, &counted->cells) {
		struct timed_cell timed = {.cell = *cell, .slice = SLICE_NONE};
		const struct leaf *leaf = &counted->leaves.items[cell->node];
		if (!leaf->samples && !leaf->weight)
			continue;
		if (cell->node < counted->times.count) {
			const struct leaf_time *time = &counted->times.items[cell->node];
			timed.slice = time->stratum.slice;
			timed.rest = time->is_rest;
		}
		/* A wake-up has time of the thread that it woke. */
		if (times->weigher->needs_wakers && times->states)
			timed.slice = slice_of(times, &counted->tasks.items[cell->thread],
					       cell->time_ns);
		timed.cell.thread = threads[cell->thread];
		if (!add_states(merged, worker, nodes, &sums[cell->node], timed))
			return false;
	}
	return true;
}

/* Adds the cells of a worker in mode cpu. Those of a clock may be scaled, as their leaves are. */
static bool add_cells(struct merged *merged, const struct merged_recording *recording,
		      unsigned int shift, const struct worker *worker, const uint32_t *nodes,
		      const uint32_t *threads)
{
	const struct counted *counted = &worker->counted;
	bool scaled = counted->work->times->strata.count;
	uint64_t first_ns = recording->span.begin_ns;
	uint64_t base_ns = merged->recording_count > 1 ? first_ns >> shift << shift : 0;
	CLEANUP_FREE struct leaf_weight *sums = scaled ? sum_leaves(counted) : NULL;
	if (scaled && !sums)
		return false;
	vec_each (item, &counted->cells) {
		struct sp_cell cell = *item;
		const struct leaf *leaf = &counted->leaves.items[cell.node];
		double from, to;
		if (!leaf->samples && !leaf->weight)
			continue;
		if (sums && sums[cell.node].all) {
			take_part(&sums[cell.node], cell.weight, &from, &to);
			cell.weight = weight_part(leaf->weight, to) -
				      weight_part(leaf->weight, from);
		}
		uint32_t group = worker->resolved.states[leaf->node].group;
		uint16_t event = recording->events[counted->groups.items[group].event];
		struct cells *cells = &merged->events[event].cells;
		cell.thread = threads[cell.thread];
		cell.node = nodes[cell.node];
		cell.time_ns = cell.time_ns >> shift << shift;
		cell.time_ns -= cell.time_ns < base_ns ? cell.time_ns : base_ns;
		if (!cells_widen(cells, shift) || !cells_add(cells, &cell))
			return false;
	}
	return true;
}

bool timeline_add_worker(struct merged *merged, const struct merged_recording *recording,
			 const struct workers *workers, size_t index, const uint32_t *nodes)
{
	const struct worker *worker = &workers->items[index];
	CLEANUP_FREE uint32_t *threads = add_threads(merged, recording, &worker->counted);
	if (!threads)
		return false;
	return merged->weigher->parts_max ? add_timed_cells(merged, worker, nodes, threads)
					  : add_cells(merged, recording, widest_shift(workers),
						      worker, nodes, threads);
}

/* Places the cells of a recording in a mode of time, which has one event. */
static bool place_timed_cells(struct merged *merged, const struct merged_recording *recording,
			      const struct workers *workers)
{
	const struct times *times = workers->work->times;
	const struct sp_time_span span = span_of(recording, times->states);
	struct cells *cells = &merged->events[0].cells;
	unsigned int shift = timed_cells_shift(span.begin_ns, span.end_ns);
	unsigned int bins = widest_shift(workers);
	unsigned int widest = shift > bins ? shift : bins;
	uint64_t base_ns = merged->recording_count > 1 ? span.begin_ns >> widest << widest : 0;
	if (shift > merged->part_shift)
		merged->part_shift = shift;
	if (span.end_ns - base_ns > merged->longest_ns)
		merged->longest_ns = span.end_ns - base_ns;
	if (!cells_widen(cells, bins) ||
	    !timed_cells_place(&merged->timed, times, span.begin_ns, span.end_ns, base_ns,
			       cells))
		return false;
	merged->timed.count = 0;
	return true;
}

/* Adds the losses of a recording that have a time. False when out of memory. */
static bool add_losses(struct merged *merged, const struct merged_recording *recording,
		       const struct sp_losses *losses)
{
	uint64_t base_ns = merged->recording_count > 1 ? recording->span.begin_ns : 0;
	for (size_t i = 0; i < sp_losses_moment_count(losses); i++) {
		const struct sp_loss *moment = sp_losses_moment(losses, i);
		if (!moment->time_ns || moment->event >= recording->event_count)
			continue;
		uint16_t event = recording->events[moment->event];
		struct sp_timeline_loss *loss = vec_push(&merged->events[event].losses);
		if (!loss)
			return false;
		uint64_t time_ns = moment->time_ns - (moment->time_ns < base_ns ? moment->time_ns : base_ns);
		*loss = (struct sp_timeline_loss){time_ns, moment->lost};
	}
	return true;
}

bool timeline_end_recording(struct merged *merged, const struct merged_recording *recording,
			    const struct workers *workers)
{
	return (!merged->weigher->parts_max || place_timed_cells(merged, recording, workers)) &&
	       add_losses(merged, recording, workers->work->read->sideband.losses);
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
	vec_sort(losses, compare_losses);
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
			*vec_push(&open) =
				(struct sp_timeline_node){sp_tree_child(next.node, i), index};
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
		.part_ns = merged->weigher->parts_max ? UINT64_C(1) << merged->part_shift : 0,
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

DEFINE_GETTER(sp_timeline_thread, sp_timeline_thread, sp_timeline, threads, thread_count)
DEFINE_GETTER(sp_timeline_node, sp_timeline_node, sp_timeline, nodes, node_count)
DEFINE_GETTER(sp_timeline_cell, sp_cell, sp_timeline, cells, cell_count)
DEFINE_GETTER(sp_timeline_loss, sp_timeline_loss, sp_timeline, losses, loss_count)

bool sp_analysis_state_times(const struct sp_analysis *analysis, size_t thread, uint64_t begin_ns,
			     uint64_t width_ns, size_t count, struct sp_thread_times *ret)
{
	const struct task_states *states = analysis->states;
	assert(thread < analysis->threads.count);
	const struct sp_timeline_thread *of = &analysis->threads.items[thread];
	size_t lifetimes = 0;
	bool found = false;
	size_t first = states ? task_states_find(states, of->tid, &lifetimes) : 0;
	if (count)
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
