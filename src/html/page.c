/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/page.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"

void lanes_deinit(struct lanes *lanes)
{
	free(lanes->shares.items);
}

static uint64_t time_in(const struct sp_thread_times *times, enum lane_state state)
{
	const uint64_t all[] = {times->running_ns, times->runnable_ns, times->blocked_ns,
				times->unknown_ns};
	return all[state];
}

void lanes_add(struct lanes *lanes, uint32_t thread, const struct sp_thread_times *times,
	       size_t bins, uint64_t bin_ns)
{
	assert(lanes->count < LANES_MAX && bin_ns);
	list_reserve(&lanes->shares, lanes->shares.count + bins * LANE_STATES);
	for (enum lane_state state = 0; state < LANE_STATES; state++) {
		for (size_t i = 0; i < bins; i++) {
			double share = (double)time_in(&times[i], state) / (double)bin_ns;
			*list_push(&lanes->shares) =
				(uint8_t)((share < 1 ? share : 1) * LANE_UNITS + 0.5);
		}
	}
	lanes->threads[lanes->count++] = thread;
}

/* Most steps of time. */
#define BINS_MAX 2000

void page_deinit(struct page *page)
{
	for (size_t i = 0; i < page->event_count; i++) {
		free(page->events[i].nodes.items);
		free(page->events[i].cells.items);
		free(page->events[i].function_totals);
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

void page_merge_cells(struct page_event *event)
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
 * leaves few to sort.
 */
static void make_cells(struct page_event *event)
{
	const struct sp_timeline *timeline = event->timeline;
	set_bins(event, page_event_duration(event) / (BINS_MAX - 1) + 1);
	list_reserve(&event->cells, timeline->cell_count);
	/* Index + 1, by node. */
	uint32_t *last_of = xcalloc(timeline->node_count + 1, sizeof(*last_of));
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
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
}

void page_place_cells(struct page_event *event, const uint32_t *new_of)
{
	for (size_t i = 0; i < event->cells.count; i++)
		event->cells.items[i].node = new_of[event->cells.items[i].node];
}

/* Child nodes of each node, as linked lists of indexes; they end with 0. */
struct children {
	uint32_t *first, *next;
};

void page_order_nodes(struct page_event *event)
{
	size_t count = event->nodes.count;
	uint32_t *new_of = xcalloc(count + 1, sizeof(*new_of));
	struct children children = {xcalloc(count + 1, sizeof(uint32_t)),
				    xcalloc(count + 1, sizeof(uint32_t))};
	struct page_node *ordered = xcalloc(count + 1, sizeof(*ordered));
	for (size_t i = count; i-- > 1;) {
		uint32_t parent = event->nodes.items[i].parent;
		children.next[i] = children.first[parent];
		children.first[parent] = (uint32_t)i;
	}
	uint32_t at = 0, placed = 0;
	while (placed < count) {
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
	page_place_cells(event, new_of);
	free(event->nodes.items);
	event->nodes.items = ordered;
	event->nodes.capacity = count + 1;
	free(new_of);
}

static void make_nodes(struct page_event *event)
{
	const struct sp_timeline *timeline = event->timeline;
	bool left_out = false;
	list_reserve(&event->nodes, timeline->node_count + 1);
	for (size_t i = 0; i < timeline->node_count; i++) {
		const struct sp_timeline_node *node = sp_timeline_node(timeline, i);
		left_out |= !node->node;
		*list_push(&event->nodes) =
			(struct page_node){.node = node->node, .parent = node->parent};
	}
	/* Nodes for those that the report left out are at the end of the timeline's list. */
	if (left_out)
		page_order_nodes(event);
	page_merge_cells(event);
}

/* Sets the nodes' own samples and weight, and the event's period. */
static void sum_cells(struct page_event *event)
{
	const struct page_cell *cells = event->cells.items;
	for (size_t i = 0; i < event->nodes.count; i++)
		event->nodes.items[i].samples = event->nodes.items[i].weight = 0;
	for (size_t i = 0; event->two_sides && i < event->cells.count; i++) {
		struct page_node *node = &event->nodes.items[cells[i].node];
		*(cells[i].thread ? &node->weight : &node->samples) += cells[i].weight;
	}
	if (event->two_sides)
		return;
	bool uniform = event->cells.count && cells[0].samples && cells[0].weight % cells[0].samples == 0;
	event->period = uniform ? cells[0].weight / cells[0].samples : 0;
	for (size_t i = 0; i < event->cells.count; i++) {
		event->nodes.items[cells[i].node].samples += cells[i].samples;
		event->nodes.items[cells[i].node].weight += cells[i].weight;
		if (cells[i].weight != event->period * cells[i].samples)
			event->period = 0;
	}
}

/* Sums up the weight below nodes that stand for others. */
static void sum_partial(struct page_event *event)
{
	const struct page_node *nodes = event->nodes.items;
	bool *partial = xcalloc(event->nodes.count + 1, sizeof(*partial));
	event->partial_weight = 0;
	for (size_t i = 1; i < event->nodes.count; i++) {
		partial[i] = partial[nodes[i].parent] || !nodes[i].node;
		if (partial[i])
			event->partial_weight += nodes[i].weight;
	}
	free(partial);
}

int page_compare_ranks(const void *a, const void *b)
{
	const struct page_rank *x = a, *y = b;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Lists the threads, which are the same for all events. */
static void list_threads(struct page *page, const struct sp_timeline *timeline)
{
	if (page->threads.count || !timeline)
		return;
	list_reserve(&page->threads, timeline->thread_count + 1);
	for (size_t i = 0; i < timeline->thread_count; i++)
		*list_push(&page->threads) = (struct page_thread){
			.thread = sp_timeline_thread(timeline, i), .number = i};
}

/* Adds the states of a thread. */
static void add_lane(const struct page *page, struct page_event *event, uint32_t index)
{
	struct sp_thread_times *times = xcalloc(event->bins + 1, sizeof(*times));
	if (sp_analysis_state_times(page->report->analysis, page->threads.items[index].number,
				    event->begin_ns, event->bin_ns, event->bins, times))
		lanes_add(&event->lanes, index, times, event->bins, event->bin_ns);
	free(times);
}

/* Adds the states of the heaviest threads, if they are known, and not in the cells. */
static void make_lanes(const struct page *page, struct page_event *event)
{
	const struct sp_timeline *timeline = event->timeline;
	event->exact = timeline && timeline->part_ns && timeline->thread_count &&
		       sp_analysis_state_times(page->report->analysis, 0, 0, 0, 0, NULL);
	if (!event->exact || (page->report->mode == SP_MODE_WALL && !page->report->filtered))
		return;
	struct page_rank *ranked = xcalloc(page->threads.count + 1, sizeof(*ranked));
	for (size_t i = 0; i < page->threads.count; i++)
		ranked[i].thread = (uint32_t)i;
	for (size_t i = 0; i < event->cells.count; i++)
		ranked[event->cells.items[i].thread].sum += event->cells.items[i].weight;
	qsort(ranked, page->threads.count, sizeof(*ranked), page_compare_ranks);
	for (size_t i = 0; i < page->threads.count && i < LANES_MAX && ranked[i].sum; i++)
		if (!page->threads.items[ranked[i].thread].merged)
			add_lane(page, event, ranked[i].thread);
	free(ranked);
}

void page_init(struct page *page, const struct report *report)
{
	*page = (struct page){
		.report = report,
		.events = xcalloc(report->profile_count + 1, sizeof(*page->events)),
		.event_count = report->profile_count,
	};
	for (size_t i = 0; i < page->event_count; i++) {
		struct page_event *event = &page->events[i];
		event->profile = report->profiles[i];
		event->timeline = report->timelines[i];
		list_threads(page, event->timeline);
		if (event->timeline) {
			make_cells(event);
			make_nodes(event);
		}
	}
}

void page_finish(struct page *page)
{
	for (size_t i = 0; i < page->event_count; i++) {
		struct page_event *event = &page->events[i];
		sum_cells(event);
		sum_partial(event);
		lanes_deinit(&event->lanes);
		event->lanes = (struct lanes){0};
		make_lanes(page, event);
	}
}
