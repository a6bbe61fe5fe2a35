/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/reduce.h"

#include <stdlib.h>
#include <string.h>
#include "html/frames.h"

const struct page_limits page_limits = {.cells = 1200000, .nodes = 4000000, .threads = 200};

/* With too many cells, at least as many steps of time, if other limits help. */
#define BINS_LEAST 500

/* With too many cells, stacks with less than this part of an event's weight lose inner frames. */
#define LIGHT_PART 4000

/* Nodes are dropped from 1/2^20 of an event's weight on, in steps of this factor. */
#define LEAST_SHIFT 20
#define LEAST_FACTOR 8

size_t page_cell_count(const struct page *page)
{
	size_t count = 0;
	for (size_t i = 0; i < page->event_count; i++)
		count += page->events[i].cells.count;
	return count;
}

size_t page_node_count(const struct page *page)
{
	size_t count = 0;
	for (size_t i = 0; i < page->event_count; i++)
		count += page->events[i].nodes.count;
	return count;
}

static uint64_t weight_of(const struct page_event *event)
{
	uint64_t weight = 0;
	for (size_t i = 0; i < event->cells.count; i++)
		weight += event->cells.items[i].weight;
	return weight;
}

/* Halves the number of steps of time until there are few enough cells, or at most `least` steps. */
static void widen_bins(struct page *page, size_t limit, uint32_t least)
{
	for (bool more = true; more && page_cell_count(page) > limit;) {
		more = false;
		for (size_t i = 0; i < page->event_count; i++) {
			struct page_event *event = &page->events[i];
			if (event->bins <= least)
				continue;
			for (size_t j = 0; j < event->cells.count; j++)
				event->cells.items[j].bin /= 2;
			event->bin_ns *= 2;
			event->bins = (event->bins + 1) / 2;
			page_merge_cells(event);
			more = true;
		}
	}
}

static void rank_threads(const struct page *page, struct page_rank *ranked)
{
	for (size_t i = 0; i < page->threads.count; i++)
		ranked[i] = (struct page_rank){0, (uint32_t)i};
	for (size_t i = 0; i < page->event_count; i++)
		for (size_t j = 0; j < page->events[i].cells.count; j++)
			ranked[page->events[i].cells.items[j].thread].sum +=
				page->events[i].cells.items[j].samples;
	qsort(ranked, page->threads.count, sizeof(*ranked), page_compare_ranks);
}

/* Adds up all threads except the `limit` with most samples. Returns false when out of memory. */
static bool merge_threads(struct page *page, size_t limit)
{
	size_t count = page->threads.count;
	if (count <= limit + 1)
		return true;
	struct page_rank *ranked = calloc(count, sizeof(*ranked));
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
			page_merge_cells(event);
		}
	}
	free(ranked);
	free(new_of);
	free(threads);
	return done;
}

/*
 * Drops inner frames until there are few enough nodes: first those of repeated and of light
 * functions, which leave totals exact, then all. Returns false when out of memory.
 */
static bool limit_nodes(struct head *head, struct page_event *event, size_t limit)
{
	uint64_t weight = weight_of(event);
	for (int totals = 1; totals >= 0; totals--) {
		uint64_t least = weight >> LEAST_SHIFT;
		while (event->nodes.count > limit && least < weight) {
			least = least ? LEAST_FACTOR * least : LEAST_FACTOR;
			if (!frames_drop(head, event, least, totals))
				return false;
			event->totals_differ |= !totals;
		}
	}
	return true;
}

bool page_reduce(struct head *head, const struct page_limits *limits)
{
	struct page *page = head->page;
	size_t nodes = page_node_count(page);
	for (size_t i = 0; i < page->event_count && nodes > limits->nodes; i++) {
		/* Each event has its part of the limit. */
		size_t own = page->events[i].nodes.count;
		size_t limit = (size_t)((double)limits->nodes * (double)own / (double)nodes);
		if (page->events[i].timeline && !limit_nodes(head, &page->events[i], limit))
			return false;
	}
	widen_bins(page, limits->cells, BINS_LEAST);
	if (page_cell_count(page) > limits->cells && !merge_threads(page, limits->threads))
		return false;
	for (size_t i = 0; i < page->event_count && page_cell_count(page) > limits->cells; i++) {
		struct page_event *event = &page->events[i];
		if (!event->timeline)
			continue;
		event->totals_differ = true;
		if (!frames_drop(head, event, weight_of(event) / LIGHT_PART, false))
			return false;
	}
	widen_bins(page, limits->cells, 1);
	return true;
}
