/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/page.h"

#include <stdlib.h>
#include <string.h>

const struct page_limits page_limits = {.cells = 1200000, .nodes = 100000, .threads = 200};

/* Steps of time: at most BINS_MAX; with too many cells at least BINS_LEAST, if other limits help. */
#define BINS_MAX 2000
#define BINS_LEAST 500

/* With too many cells, nodes with less than this part of an event's weight are added up. */
#define LIGHT_PART 4000

#define NO_NODE UINT32_MAX

void page_deinit(struct page *page)
{
	for (size_t i = 0; page->events && i < page->event_count; i++) {
		free(page->events[i].nodes.items);
		free(page->events[i].cells.items);
		lanes_deinit(&page->events[i].lanes);
	}
	free(page->events);
	free(page->threads.items);
}

uint64_t page_event_duration(const struct page_event *event)
{
	const struct sp_timeline *timeline = event->timeline;
	return timeline && timeline->end_ns > timeline->begin_ns ? timeline->end_ns - timeline->begin_ns : 0;
}

uint32_t page_event_bin(const struct page_event *event, uint64_t time_ns)
{
	if (time_ns < event->begin_ns)
		return 0;
	uint64_t bin = (time_ns - event->begin_ns) / event->bin_ns;
	return bin < event->bins ? (uint32_t)bin : event->bins - 1;
}

static int compare_cells(const void *a, const void *b)
{
	const struct page_cell *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Sorts cells by thread and node, and adds up equal ones. Their bins ascend already. */
static void merge_cells(struct page_event *event)
{
	struct page_cell *cells = event->cells.items;
	size_t kept = 0;
	for (size_t i = 0, end; i < event->cells.count; i = end) {
		for (end = i; end < event->cells.count && cells[end].bin == cells[i].bin;)
			end++;
		qsort(cells + i, end - i, sizeof(*cells), compare_cells);
		size_t first = kept;
		for (size_t j = i; j < end; j++) {
			if (kept > first && !compare_cells(&cells[kept - 1], &cells[j])) {
				cells[kept - 1].samples += cells[j].samples;
				cells[kept - 1].weight += cells[j].weight;
			} else {
				cells[kept++] = cells[j];
			}
		}
	}
	event->cells.count = kept;
}

/*
 * Sets the width of bins to at least `width`, and a multiple of the timeline's bins and parts, so
 * that the time in each bin is exact.
 */
static void set_bins(struct page_event *event, uint64_t width)
{
	const struct sp_timeline *timeline = event->timeline;
	uint64_t width_ns = timeline->width_ns, part_ns = timeline->part_ns;
	uint64_t unit = (width_ns > part_ns ? width_ns : part_ns) ?: 1;
	event->bin_ns = width > unit ? (width + unit - 1) / unit * unit : unit;
	event->begin_ns = timeline->begin_ns / unit * unit;
	uint64_t length = timeline->end_ns > event->begin_ns ? timeline->end_ns - event->begin_ns : 0;
	event->bins = (uint32_t)(length / event->bin_ns + 1);
}

/*
 * Makes cells from those of the timeline; equal ones may remain. Adding up a node's neighbours at once
 * leaves few to sort. Returns false when out of memory.
 */
static bool make_cells(struct page_event *event)
{
	const struct sp_timeline *timeline = event->timeline;
	set_bins(event, page_event_duration(event) / (BINS_MAX - 1) + 1);
	if (!list_reserve(&event->cells, timeline->cell_count))
		return false;
	uint32_t *last_of = calloc(timeline->node_count + 1, sizeof(*last_of)); /* index + 1, by node */
	if (!last_of)
		return false;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = &timeline->cells[i];
		struct page_cell made = {
			.bin = page_event_bin(event, cell->time_ns), .thread = cell->thread,
			.node = cell->node, .samples = cell->samples, .weight = cell->weight};
		uint32_t last = last_of[cell->node];
		struct page_cell *before = last ? &event->cells.items[last - 1] : NULL;
		if (before && before->bin == made.bin && before->thread == made.thread) {
			before->samples += made.samples;
			before->weight += made.weight;
			continue;
		}
		*list_push(&event->cells) = made;
		last_of[cell->node] = (uint32_t)event->cells.count;
	}
	free(last_of);
	return true;
}

static void double_bins(struct page_event *event)
{
	for (size_t i = 0; i < event->cells.count; i++)
		event->cells.items[i].bin /= 2;
	event->bin_ns *= 2;
	event->bins = (event->bins + 1) / 2;
	merge_cells(event);
}

/* Returns each node's own weight and that of its subtree; NULL when out of memory. */
static uint64_t *total_weights(const struct page_event *event)
{
	uint64_t *totals = calloc(event->nodes.count + 1, sizeof(*totals));
	for (size_t i = 0; totals && i < event->cells.count; i++)
		totals[event->cells.items[i].node] += event->cells.items[i].weight;
	for (size_t i = event->nodes.count; totals && i-- > 1;)
		totals[event->nodes.items[i].parent] += totals[i];
	return totals;
}

/* Child nodes of each node, as linked lists of indexes; they end with 0. */
struct children {
	uint32_t *first, *next;
};

/* Orders nodes depth first, and sets new_of[i] to the index of node i. Returns false when out of memory. */
static bool order_nodes(struct page_event *event, uint32_t *new_of)
{
	size_t count = event->nodes.count;
	struct children children = {calloc(count + 1, sizeof(uint32_t)), calloc(count + 1, sizeof(uint32_t))};
	struct page_node *ordered = calloc(count + 1, sizeof(*ordered));
	bool done = children.first && children.next && ordered;
	for (size_t i = count; done && i-- > 1;) {
		uint32_t parent = event->nodes.items[i].parent;
		children.next[i] = children.first[parent];
		children.first[parent] = (uint32_t)i;
	}
	uint32_t at = 0, placed = 0;
	while (done && placed < count) {
		ordered[placed] = event->nodes.items[at];
		ordered[placed].parent = at ? new_of[event->nodes.items[at].parent] : 0;
		new_of[at] = placed++;
		if (children.first[at]) {
			at = children.first[at];
			continue;
		}
		while (at && !children.next[at])
			at = event->nodes.items[at].parent;
		if (!at)
			break;
		at = children.next[at];
	}
	free(children.first);
	free(children.next);
	if (!done) {
		free(ordered);
		return false;
	}
	free(event->nodes.items);
	event->nodes.items = ordered;
	event->nodes.capacity = count + 1;
	return true;
}

static void place_cells(struct page_event *event, const uint32_t *new_of)
{
	for (size_t i = 0; i < event->cells.count; i++)
		event->cells.items[i].node = new_of[event->cells.items[i].node];
}

/*
 * Replaces nodes of less than `least` total weight, and those that already stand for light ones, by one
 * node for each parent. merge_cells() must follow. Returns false when out of memory.
 */
static bool drop_light_nodes(struct page_event *event, uint64_t least)
{
	size_t count = event->nodes.count;
	uint64_t *totals = total_weights(event);
	uint32_t *new_of = calloc(count + 1, sizeof(*new_of));
	uint32_t *light_of = malloc((count + 1) * sizeof(*light_of)); /* by new index of the parent */
	struct page_node *nodes = calloc(count + 1, sizeof(*nodes));
	bool done = totals && new_of && light_of && nodes;
	uint32_t kept = 0;
	for (size_t i = 0; done && i < count; i++) {
		struct page_node node = event->nodes.items[i];
		uint32_t parent = i ? new_of[node.parent] : 0;
		bool light = i && (totals[i] < least || !node.node);
		if (light && !nodes[parent].node) {
			new_of[i] = parent;
			continue;
		}
		if (light && light_of[parent] != NO_NODE) {
			new_of[i] = light_of[parent];
			continue;
		}
		if (light)
			light_of[parent] = kept;
		light_of[kept] = NO_NODE;
		new_of[i] = kept;
		nodes[kept++] = (struct page_node){.node = light ? NULL : node.node, .parent = parent};
	}
	if (done) {
		free(event->nodes.items);
		event->nodes.items = nodes;
		event->nodes.count = kept;
		event->nodes.capacity = count + 1;
		place_cells(event, new_of);
	} else {
		free(nodes);
	}
	free(totals);
	free(new_of);
	free(light_of);
	return done;
}

/*
 * Makes the nodes that the report left out follow their parents. merge_cells() must follow. Returns false
 * when out of memory.
 */
static bool place_left_out(struct page_event *event)
{
	uint32_t *new_of = NULL;
	bool done = drop_light_nodes(event, 0) &&
		    (new_of = calloc(event->nodes.count + 1, sizeof(*new_of))) != NULL &&
		    order_nodes(event, new_of);
	if (done)
		place_cells(event, new_of);
	free(new_of);
	return done;
}

/* Returns false when out of memory. */
static bool make_nodes(struct page_event *event, size_t limit)
{
	const struct sp_timeline *timeline = event->timeline;
	uint64_t weight = 0;
	bool left_out = false;
	if (!list_reserve(&event->nodes, timeline->node_count + 1))
		return false;
	for (size_t i = 0; i < timeline->node_count; i++) {
		left_out |= !timeline->nodes[i].node;
		*list_push(&event->nodes) = (struct page_node){
			.node = timeline->nodes[i].node, .parent = timeline->nodes[i].parent};
	}
	for (size_t i = 0; i < event->cells.count; i++)
		weight += event->cells.items[i].weight;
	/* These are at the end of the timeline's list. */
	if (left_out && !place_left_out(event))
		return false;
	for (uint64_t least = weight >> 24; event->nodes.count > limit && least < weight;) {
		least = least ? 2 * least : 1;
		if (!drop_light_nodes(event, least))
			return false;
	}
	merge_cells(event);
	return true;
}

/* Sets the nodes' own samples and weight, and the event's period. */
static void sum_cells(struct page_event *event)
{
	const struct page_cell *cells = event->cells.items;
	bool uniform = event->cells.count && cells[0].samples && cells[0].weight % cells[0].samples == 0;
	event->period = uniform ? cells[0].weight / cells[0].samples : 0;
	for (size_t i = 0; i < event->cells.count; i++) {
		event->nodes.items[cells[i].node].samples += cells[i].samples;
		event->nodes.items[cells[i].node].weight += cells[i].weight;
		if (cells[i].weight != event->period * cells[i].samples)
			event->period = 0;
		if (!event->nodes.items[cells[i].node].node)
			event->light_weight += cells[i].weight;
	}
}

/* A thread with the sum of its samples, or of their weights. */
struct ranked {
	uint64_t sum;
	uint32_t thread;
};

static int by_sum(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static void rank_threads(const struct page *page, struct ranked *ranked)
{
	for (size_t i = 0; i < page->threads.count; i++)
		ranked[i] = (struct ranked){0, (uint32_t)i};
	for (size_t i = 0; i < page->event_count; i++)
		for (size_t j = 0; j < page->events[i].cells.count; j++)
			ranked[page->events[i].cells.items[j].thread].sum +=
				page->events[i].cells.items[j].samples;
	qsort(ranked, page->threads.count, sizeof(*ranked), by_sum);
}

/* Adds up all threads except the `limit` with most samples. Returns false when out of memory. */
static bool merge_threads(struct page *page, size_t limit)
{
	size_t count = page->threads.count;
	if (count <= limit + 1)
		return true;
	struct ranked *ranked = calloc(count, sizeof(*ranked));
	uint32_t *new_of = calloc(count, sizeof(*new_of));
	struct page_thread *threads = calloc(limit + 1, sizeof(*threads));
	bool done = ranked && new_of && threads;
	if (done) {
		rank_threads(page, ranked);
		for (size_t i = 0; i < count; i++) {
			new_of[ranked[i].thread] = (uint32_t)(i < limit ? i : limit);
			if (i <= limit)
				threads[i] = page->threads.items[ranked[i].thread];
		}
		threads[limit].merged = (uint32_t)(count - limit);
		memcpy(page->threads.items, threads, (limit + 1) * sizeof(*threads));
		page->threads.count = limit + 1;
		for (size_t i = 0; i < page->event_count; i++) {
			struct page_event *event = &page->events[i];
			for (size_t j = 0; j < event->cells.count; j++)
				event->cells.items[j].thread = new_of[event->cells.items[j].thread];
			merge_cells(event);
		}
	}
	free(ranked);
	free(new_of);
	free(threads);
	return done;
}

static size_t cell_count(const struct page *page)
{
	size_t count = 0;
	for (size_t i = 0; i < page->event_count; i++)
		count += page->events[i].cells.count;
	return count;
}

/* Halves the number of steps of time until there are few enough cells, or at most `least` steps. */
static void widen_bins(struct page *page, size_t limit, uint32_t least)
{
	for (bool more = true; more && cell_count(page) > limit;) {
		more = false;
		for (size_t i = 0; i < page->event_count; i++) {
			if (page->events[i].bins <= least)
				continue;
			double_bins(&page->events[i]);
			more = true;
		}
	}
}

/* Reduces cells until there are few enough. Returns false when out of memory. */
static bool limit_cells(struct page *page, const struct page_limits *limits)
{
	widen_bins(page, limits->cells, BINS_LEAST);
	for (size_t i = 0; i < page->event_count && cell_count(page) > limits->cells; i++) {
		uint64_t weight = 0;
		for (size_t j = 0; j < page->events[i].cells.count; j++)
			weight += page->events[i].cells.items[j].weight;
		if (!page->events[i].timeline)
			continue;
		if (!drop_light_nodes(&page->events[i], weight / LIGHT_PART))
			return false;
		merge_cells(&page->events[i]);
	}
	if (cell_count(page) > limits->cells && !merge_threads(page, limits->threads))
		return false;
	widen_bins(page, limits->cells, 1);
	return true;
}

/* Lists the threads, which are the same for all events. Returns false when out of memory. */
static bool list_threads(struct page *page, const struct sp_timeline *timeline)
{
	if (page->threads.count || !timeline)
		return true;
	if (!list_reserve(&page->threads, timeline->thread_count + 1))
		return false;
	for (size_t i = 0; i < timeline->thread_count; i++)
		*list_push(&page->threads) = (struct page_thread){.thread = &timeline->threads[i]};
	return true;
}

/* Adds the states of a thread. Returns false when out of memory. */
static bool add_lane(const struct page *page, struct page_event *event, uint32_t index)
{
	const struct sp_timeline_thread *thread = page->threads.items[index].thread;
	size_t of = (size_t)(thread - event->timeline->threads);
	struct sp_thread_times *times = calloc(event->bins + 1, sizeof(*times));
	bool done = times;
	if (done && sp_analysis_state_times(page->report->analysis, of, event->begin_ns, event->bin_ns,
					    event->bins, times))
		done = lanes_add(&event->lanes, index, times, event->bins, event->bin_ns);
	free(times);
	return done;
}

/*
 * Adds the states of the heaviest threads, if they are known, and not in the cells. Returns false
 * when out of memory.
 */
static bool make_lanes(const struct page *page, struct page_event *event)
{
	const struct sp_timeline *timeline = event->timeline;
	event->exact = timeline && timeline->part_ns && timeline->thread_count &&
		       sp_analysis_state_times(page->report->analysis, 0, 0, 0, 0, NULL);
	if (!event->exact || (page->report->mode == SP_MODE_WALL && !page->report->filtered))
		return true;
	struct ranked *ranked = calloc(page->threads.count + 1, sizeof(*ranked));
	bool done = ranked;
	for (size_t i = 0; done && i < page->threads.count; i++)
		ranked[i].thread = (uint32_t)i;
	for (size_t i = 0; done && i < event->cells.count; i++)
		ranked[event->cells.items[i].thread].sum += event->cells.items[i].weight;
	if (done)
		qsort(ranked, page->threads.count, sizeof(*ranked), by_sum);
	for (size_t i = 0; done && i < page->threads.count && i < LANES_MAX && ranked[i].sum; i++)
		if (!page->threads.items[ranked[i].thread].merged)
			done = add_lane(page, event, ranked[i].thread);
	free(ranked);
	return done;
}

bool page_init(struct page *page, const struct report *report, const struct page_limits *limits)
{
	*page = (struct page){.report = report};
	page->events = calloc(report->profile_count + 1, sizeof(*page->events));
	if (!page->events)
		return false;
	page->event_count = report->profile_count;
	for (size_t i = 0; i < page->event_count; i++) {
		struct page_event *event = &page->events[i];
		event->profile = report->profiles[i];
		event->timeline = report->timelines[i];
		if (!list_threads(page, event->timeline) ||
		    (event->timeline && (!make_cells(event) || !make_nodes(event, limits->nodes))))
			return false;
	}
	if (!limit_cells(page, limits))
		return false;
	for (size_t i = 0; i < page->event_count; i++)
		if (page->events[i].timeline)
			sum_cells(&page->events[i]);
	for (size_t i = 0; i < page->event_count; i++)
		if (!make_lanes(page, &page->events[i]))
			return false;
	return true;
}
