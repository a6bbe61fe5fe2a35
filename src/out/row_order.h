/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order of rows in successive reports of a live recording: a row keeps its place as long as its
 * interval overlaps those of its neighbours.
 */
#ifndef OUT_ROW_ORDER_H
#define OUT_ROW_ORDER_H

#include "out/columns.h"

struct row_order {
	uint64_t *rows; /* hashes of the rows' keys, in the order of the last report */
	size_t count;
};

void row_order_deinit(struct row_order *order);

/* Returns a hash of the row's keys. */
uint64_t row_order_hash(const struct report *report, const struct sp_row *row);

/*
 * Orders rows, which are ordered by weight, and keeps their order for the next call. A row moves
 * up only past rows with intervals below its own, or without weight; a new row comes before the
 * first row with less weight. Only the first rows, 256, are ordered.
 */
void row_order_apply(struct row_order *order, const struct report *report, struct table_line *rows,
		     size_t count);

#endif
