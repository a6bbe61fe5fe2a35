/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds the size of a page's content. Sums stay exact: if there is too much, times are in wider
 * steps, threads are added up, and inner frames of light stacks are left out.
 */
#ifndef HTML_REDUCE_H
#define HTML_REDUCE_H

#include "html/head.h"

/* Limits for all events together. */
struct page_limits {
	size_t cells;
	size_t nodes;
	size_t threads; /* kept if there are too many cells */
};

/* Limits that browsers have memory for. The limit of bytes is html.c's. */
extern const struct page_limits page_limits;

size_t page_cell_count(const struct page *page);
size_t page_node_count(const struct page *page);

/* Applies the limits. page_finish() must follow. */
void page_reduce(struct head *head, const struct page_limits *limits);

#endif
