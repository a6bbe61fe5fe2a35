/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of samples by time, thread and node, in bounded memory. Every sample has its own cell until
 * there are too many cells. Then bins double in width until half of the limit is free, and cells of one
 * bin are added up: most of them at once, the others when there are too many cells again. Sums stay
 * exact; only the resolution of time decreases.
 */
#pragma once

#include <sprof/timeline.h>
#include "base/vec.h"

/* Threads and nodes of cells are numbers of the caller's. */
struct cells {
	VEC(struct sp_cell);
	size_t limit;       /* set by the caller before cells_add(); at least 1 */
	unsigned int shift; /* a bin's width is 1 << shift ns */
	struct recent_cell *recent; /* recent cells by hash; NULL: each sample has its own cell */
};

/* Losses with a time. */
struct timeline_losses {
	VEC(struct sp_timeline_loss);
};

/* A zeroed struct with a limit is empty. */
void cells_deinit(struct cells *cells);

/*
 * Adds a cell with any time. The limit doubles if one bin for all times would exceed it. False when
 * out of memory.
 */
bool cells_add(struct cells *cells, const struct sp_cell *cell);

/* Widens the bins to 1 << shift ns, if they are narrower. False when out of memory. */
bool cells_widen(struct cells *cells, unsigned int shift);

/*
 * Sorts by time, thread and node, and adds up equal cells. cells_add() must not follow. False when out of
 * memory.
 */
bool cells_sort(struct cells *cells);
