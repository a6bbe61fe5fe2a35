/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/reduce.h"
#include "html/head.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Drops inner frames of a page's stacks. Each sample keeps its own function, and its library. */

/* Functions with less than this part of an event's weight are one for each library. */
#define LIGHT_FUNCTION_PART 100000

/* Nodes from the root to the present one, with the number of each function among them. */
struct root_path {
	uint32_t *nodes, *open; /* by depth; by function */
	size_t depth;
};

static void path_init(struct root_path *path, const struct head *head,
		      const struct page_event *event)
{
	*path = (struct root_path){.nodes = xcalloc(event->nodes.count + 1, sizeof(*path->nodes)),
				   .open = xcalloc(head->functions.count + 1, sizeof(*path->open))};
}

static void path_deinit(struct root_path *path)
{
	free(path->nodes);
	free(path->open);
}

/* Goes to the next node in depth-first order. Returns whether no caller is the same function. */
static bool path_go(struct root_path *path, const struct page_node *nodes, uint32_t node)
{
	while (path->depth && path->nodes[path->depth - 1] != nodes[node].parent)
		path->open[nodes[path->nodes[--path->depth]].function]--;
	path->nodes[path->depth++] = node;
	return !path->open[nodes[node].function]++;
}

/* Returns the weight of each node's subtree, which the caller frees. */
static uint64_t *subtree_weights(const struct page_event *event)
{
	uint64_t *weights = xcalloc(event->nodes.count + 1, sizeof(*weights));
	for (size_t i = 0; i < event->cells.count; i++)
		weights[event->cells.items[i].node] += event->cells.items[i].weight;
	for (size_t i = event->nodes.count; i-- > 1;)
		weights[event->nodes.items[i].parent] += weights[i];
	return weights;
}

/* Returns the weight of each function's stacks, which the caller frees. */
static uint64_t *function_totals(const struct head *head, const struct page_event *event)
{
	struct root_path path;
	path_init(&path, head, event);
	uint64_t *weights = subtree_weights(event);
	uint64_t *totals = xcalloc(head->functions.count + 1, sizeof(*totals));
	for (uint32_t i = 1; i < event->nodes.count; i++)
		if (path_go(&path, event->nodes.items, i))
			totals[event->nodes.items[i].function] += weights[i];
	path_deinit(&path);
	free(weights);
	return totals;
}

/* Place of a node of the old tree in the new one. */
struct node_place {
	uint32_t node;   /* its own, if it is sampled */
	uint32_t caller; /* parent of its callees */
	bool gap;        /* frames between that one and the callees are dropped */
};

/* A new tree. Its nodes are not in depth-first order. */
struct reduced_tree {
	struct head *head;
	LIST(struct page_node) nodes;
	struct unique children; /* parent and function */
	LIST(uint32_t) child_of; /* index of the node, by row of `children` */
	uint32_t inner;         /* function that stands for dropped frames */
};

/* Returns the parent's child with that function; adds it if there is none. */
static uint32_t child(struct reduced_tree *tree, const struct page_node *node)
{
	const uint64_t key[] = {node->parent, node->function};
	uint32_t row = unique_add(&tree->children, key);
	if (row == tree->child_of.count) {
		*list_push(&tree->child_of) = (uint32_t)tree->nodes.count;
		*list_push(&tree->nodes) = *node;
	}
	return tree->child_of.items[row];
}

/* Adds a node to the nearest caller that is left, after a mark if there is a gap between them. */
static uint32_t add_below(struct reduced_tree *tree, struct node_place caller,
			  struct page_node node)
{
	const struct page_node mark = {.parent = caller.caller, .function = tree->inner};
	node.parent = caller.gap ? child(tree, &mark) : caller.caller;
	return child(tree, &node);
}

/* Returns a sampled node as the new tree has it: light functions are one for each library. */
static struct page_node own_node(struct reduced_tree *tree, struct page_node node, bool light)
{
	if (!light)
		return node;
	node.node = NULL;
	node.function = head_add_light(tree->head, node.function);
	return node;
}

static void replace_nodes(struct page_event *event, struct reduced_tree *tree,
			  const struct node_place *places)
{
	uint32_t *new_of = xcalloc(event->nodes.count + 1, sizeof(*new_of));
	for (size_t i = 0; i < event->nodes.count; i++)
		new_of[i] = places[i].node;
	page_place_cells(event, new_of);
	free(new_of);
	free(event->nodes.items);
	event->nodes.items = tree->nodes.items;
	event->nodes.count = tree->nodes.count;
	event->nodes.capacity = tree->nodes.capacity;
	page_order_nodes(event);
	page_merge_cells(event);
}

/*
 * Drops frames inside the subtrees of less than `least` weight, and merges what is then equal:
 * frames of functions that are light, or that a caller in the stack is, too; else (`totals` is
 * false) all that are not a sample's own.
 */
static void frames_drop(struct head *head, struct page_event *event, uint64_t least, bool totals)
{
	if (!event->function_totals)
		event->function_totals = function_totals(head, event);
	const uint64_t *totals_of = event->function_totals;
	const struct page_node *nodes = event->nodes.items;
	struct reduced_tree tree = {
		.head = head, .children.columns = 2, .inner = head_add_inner(head)};
	struct root_path path;
	uint64_t *weights = subtree_weights(event);

	/* Marks nodes that samples end at. */
	bool *sampled = xcalloc(event->nodes.count + 1, sizeof(*sampled));
	for (size_t i = 0; i < event->cells.count; i++)
		sampled[event->cells.items[i].node] = true;
	struct node_place *places = xcalloc(event->nodes.count + 1, sizeof(*places));
	path_init(&path, head, event);
	uint64_t least_total = weights[0] / LIGHT_FUNCTION_PART;
	*list_push(&tree.nodes) = nodes[0];
	for (uint32_t i = 1; i < event->nodes.count; i++) {
		const struct page_node *node = &nodes[i];
		struct node_place caller = places[node->parent];
		bool outermost = path_go(&path, nodes, i);
		bool light = node->node && totals_of[node->function] < least_total;
		bool kept = weights[i] >= least || (node->node && node->node->state);
		places[i] = (struct node_place){.caller = caller.caller, .gap = true};
		if (sampled[i])
			places[i].node = add_below(&tree, caller,
						   own_node(&tree, *node, light && !kept));
		else if (kept || (totals && outermost && !light && node->function != tree.inner))
			places[i].node = add_below(&tree, caller, *node);
		if (places[i].node && (kept || totals))
			places[i] = (struct node_place){places[i].node, places[i].node, false};
	}
	replace_nodes(event, &tree, places);
	unique_deinit(&tree.children);
	free(tree.child_of.items);
	path_deinit(&path);
	free(weights);
	free(sampled);
	free(places);
}

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

/* Adds up all threads except the `limit` with most samples. */
static void merge_threads(struct page *page, size_t limit)
{
	size_t count = page->threads.count;
	if (count <= limit + 1)
		return;
	struct page_rank *ranked = xcalloc(count, sizeof(*ranked));
	uint32_t *new_of = xcalloc(count, sizeof(*new_of));
	struct page_thread *threads = xcalloc(limit + 1, sizeof(*threads));
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
	free(ranked);
	free(new_of);
	free(threads);
}

/*
 * Drops inner frames until there are few enough nodes: first those of repeated and of light
 * functions, which leave totals exact, then all.
 */
static void limit_nodes(struct head *head, struct page_event *event, size_t limit)
{
	uint64_t weight = weight_of(event);
	for (int totals = 1; totals >= 0; totals--) {
		uint64_t least = weight >> LEAST_SHIFT;
		while (event->nodes.count > limit && least < weight) {
			least = least ? LEAST_FACTOR * least : LEAST_FACTOR;
			frames_drop(head, event, least, totals);
			event->totals_differ |= !totals;
		}
	}
}

void page_reduce(struct head *head, const struct page_limits *limits)
{
	struct page *page = head->page;
	size_t nodes = page_node_count(page);
	for (size_t i = 0; i < page->event_count && nodes > limits->nodes; i++) {
		/* Each event has its part of the limit. */
		size_t own = page->events[i].nodes.count;
		size_t limit = (size_t)((double)limits->nodes * (double)own / (double)nodes);
		limit_nodes(head, &page->events[i], limit);
	}
	widen_bins(page, limits->cells, BINS_LEAST);
	if (page_cell_count(page) > limits->cells)
		merge_threads(page, limits->threads);
	for (size_t i = 0; i < page->event_count && page_cell_count(page) > limits->cells; i++) {
		struct page_event *event = &page->events[i];
		if (!event->nodes.count)
			continue;
		event->totals_differ = true;
		frames_drop(head, event, weight_of(event) / LIGHT_PART, false);
	}
	widen_bins(page, limits->cells, 1);
}
