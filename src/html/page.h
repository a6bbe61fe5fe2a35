/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report's content for its HTML page. reduce.h bounds its size. */
#ifndef HTML_PAGE_H
#define HTML_PAGE_H

#include <sprof/sprof.h>
#include "list.h"
#include "out/report.h"

/*
 * Shares of the states of the busiest threads in each bin of a page, for the lanes of its strip.
 * LANES_MAX and the number of bins limit the size.
 */

/* Most threads with a lane; strip.js has the same limit. */
#define LANES_MAX 30

/* A whole bin in one state. */
#define LANE_UNITS 127

enum lane_state { LANE_RUNNING, LANE_RUNNABLE, LANE_BLOCKED, LANE_UNKNOWN, LANE_STATES };

/* A zeroed struct is empty. */
struct lanes {
	uint32_t threads[LANES_MAX]; /* numbers of the caller's */
	size_t count;
	LIST(uint8_t)
	shares; /* by lane, state and bin, in LANE_UNITS; a thread that did not exist has 0 */
};

void lanes_deinit(struct lanes *lanes);

/* Adds a lane by the thread's times in each bin. There must be fewer than LANES_MAX. */
void lanes_add(struct lanes *lanes, uint32_t thread, const struct sp_thread_times *times,
	       size_t bins, uint64_t bin_ns);

/* A node of the call tree. Nodes are in depth-first order; the first is the root. */
struct page_node {
	const struct sp_tree_node *node; /* NULL: it stands for nodes that the page does not have */
	uint32_t parent;                 /* index; of the root: 0 */
	uint32_t function;               /* index in the head's functions */
	uint64_t samples, weight;        /* its own, without its children */
};

/* Samples of one thread with a stack that ends at one node, in one step of time. */
struct page_cell {
	uint32_t bin, thread, node, samples;
	uint64_t weight;
};

struct page_event {
	const struct sp_profile *profile;
	const struct sp_timeline *timeline; /* NULL: no nodes and no cells */
	LIST(struct page_node) nodes;
	LIST(struct page_cell) cells; /* ordered by bin, thread and node */
	uint64_t begin_ns, bin_ns;    /* begin of the first bin, and width of each */
	uint32_t bins;
	uint64_t period;         /* weight of every sample; 0: they differ */
	uint64_t partial_weight; /* weight of the stacks without some of their frames */
	uint64_t *function_totals; /* used by frames_drop() */
	bool totals_differ;      /* a function may have less weight in the tree than in the table */
	bool two_sides;          /* comparison: cells of thread 0 are those of the base, of 1 those
				  * of the new runs; nodes have the base's weight as samples */
	bool exact;              /* states are known: without filters, each bin has their time */
	struct lanes lanes;      /* states of the heaviest threads, by index in the page; empty if
				  * the cells have them */
};

struct page_thread {
	const struct sp_timeline_thread *thread;
	size_t number; /* among the timeline's threads */
	uint32_t merged; /* number of threads that it stands for, if it stands for several; else 0 */
};

struct head;
struct head_writing;

struct page {
	const struct report *report;
	struct page_event *events;
	size_t event_count;
	LIST(struct page_thread) threads;
	/* Writes more values of the head; NULL: there are none. */
	void (*write_more)(const struct head *head, struct head_writing *writing);
	const void *more; /* for write_more() */
};

/* Makes all content. */
void page_init(struct page *page, const struct report *report);
void page_deinit(struct page *page);

/* Writes the page. Returns false after printing an error. Write errors stay in `out`. */
bool page_write(struct page *page, FILE *out);

/*
 * Sums up cells by node, and makes the lanes. Call it after page_init(), and after each change of
 * cells.
 */
void page_finish(struct page *page);

/* Sorts cells of a bin by thread and node, and adds up equal ones. Their bins must ascend. */
void page_merge_cells(struct page_event *event);

/* Moves the cells of node i to node new_of[i]. page_merge_cells() must follow. */
void page_place_cells(struct page_event *event, const uint32_t *new_of);

/* Orders nodes depth first. page_merge_cells() must follow. */
void page_order_nodes(struct page_event *event);

/* A thread with the sum of its samples, or of their weights. */
struct page_rank {
	uint64_t sum;
	uint32_t thread;
};

/* Orders ranks for qsort(), the highest sum first. */
int page_compare_ranks(const void *a, const void *b);

/* Returns whether cell i is the first one of its bin and thread. */
static inline bool page_begins_group(const struct page_event *event, size_t i)
{
	const struct page_cell *cells = event->cells.items;
	return !i || cells[i].bin != cells[i - 1].bin || cells[i].thread != cells[i - 1].thread;
}

/* Returns the bin of a time; the first or the last one if it is outside of them. */
uint32_t page_event_bin(const struct page_event *event, uint64_t time_ns);

/* Returns the time from the first sample to the last one in ns; 0 without times. */
uint64_t page_event_duration(const struct page_event *event);

#endif
