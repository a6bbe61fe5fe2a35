/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights of rows by batch. Batches are equal parts of a recording's time, or runs; the variation
 * between them gives between-run intervals (interval.h).
 */
#pragma once

#include "base/vec.h"
#include "profile/interval.h"

/* Weights by part of a recording's time. They may wrap around in damaged files. */
struct part_sums {
	uint64_t weight[INTERVAL_PARTS];
};

/* Weights by row and batch. A zeroed struct is empty. */
struct batches {
	VEC(uint64_t); /* `width` numbers for each row */
};

/*
 * Returns the row's `width` weights. Rows up to it are added with weights of 0. NULL when out of
 * memory.
 */
uint64_t *batches_row(struct batches *batches, size_t width, uint32_t row);

static inline void part_sums_add(uint64_t to[INTERVAL_PARTS], const struct part_sums *from)
{
	for (size_t i = 0; i < INTERVAL_PARTS; i++)
		to[i] += from->weight[i];
}
