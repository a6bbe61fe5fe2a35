/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/cells.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "profile/interval.h"

/* Number of bins, as a part of the limit, when cells are first added up: finer ones rarely save cells. */
#define BINS_PART 16

/*
 * Size of the table of recent cells. Samples are almost in order of time, so that a thread's equal cells
 * are near each other. A table of all cells would miss the processor's cache at each sample.
 */
#define RECENT (1 << 16)

/* Digits of a cell, the least significant first: three of its node, three of its thread, six of its time. */
#define DIGIT_BITS 11
#define DIGITS 12

/* The last cell of a thread and node. */
struct recent_cell {
	uint32_t index; /* index + 1; 0: none */
	uint32_t bin;   /* low bits of its bin's number; most cells of other bins are not in the cache */
};

void cells_deinit(struct cells *cells)
{
	vec_deinit(cells);
	free(cells->recent);
	*cells = (struct cells){0};
}

static uint64_t bin_of(uint64_t time_ns, unsigned int shift)
{
	return time_ns >> shift << shift;
}

static bool is_same(const struct sp_cell *a, const struct sp_cell *b)
{
	return a->time_ns == b->time_ns && a->thread == b->thread && a->node == b->node;
}

static void add(struct sp_cell *to, const struct sp_cell *from)
{
	to->weight = weight_add(to->weight, from->weight);
	if (__builtin_add_overflow(to->samples, from->samples, &to->samples))
		to->samples = UINT32_MAX;
}

/* Adds to a recent equal cell, or appends. Returns false when out of memory. */
static bool put(struct cells *cells, const struct sp_cell *cell)
{
	struct recent_cell *recent = NULL;
	uint32_t bin = cell->time_ns >> cells->shift;
	if (cells->recent) {
		recent = &cells->recent[(cell->thread * 0x9e3779b1 + cell->node) % RECENT];
		if (recent->index && recent->bin == bin &&
		    is_same(&cells->items[recent->index - 1], cell)) {
			add(&cells->items[recent->index - 1], cell);
			return true;
		}
	}
	struct sp_cell *new = vec_push(cells);
	if (!new)
		return false;
	*new = *cell;
	if (recent)
		*recent = (struct recent_cell){(uint32_t)cells->count, bin};
	return true;
}

/* Moves all cells to bins of a width, and adds up equal ones. Returns false when out of memory. */
static bool rebin(struct cells *cells, unsigned int shift)
{
	size_t count = cells->count;
	if (!cells->recent && !(cells->recent = malloc(RECENT * sizeof(*cells->recent))))
		return false;
	memset(cells->recent, 0, RECENT * sizeof(*cells->recent));
	cells->shift = shift;
	cells->count = 0;
	/* Cells need no new memory, because they move towards the beginning. */
	for (size_t i = 0; i < count; i++) {
		struct sp_cell cell = cells->items[i];
		cell.time_ns = bin_of(cell.time_ns, shift);
		if (!put(cells, &cell))
			return false;
	}
	return true;
}

/* Returns the times of the first and the last cell. */
static void find_times(const struct cells *cells, uint64_t *first_ret, uint64_t *last_ret)
{
	uint64_t first = UINT64_MAX, last = 0;
	vec_each (cell, cells) {
		uint64_t time_ns = cell->time_ns;
		first = time_ns < first ? time_ns : first;
		last = time_ns > last ? time_ns : last;
	}
	*first_ret = first;
	*last_ret = last;
}

/*
 * Adds up equal cells, and widens the bins until at least half of the limit is free. False when out of
 * memory.
 */
static bool make_room(struct cells *cells)
{
	uint64_t first, last;
	unsigned int shift = cells->shift;
	find_times(cells, &first, &last);
	while (!cells->recent && shift < 63 && (last - first) >> shift > cells->limit / BINS_PART)
		shift++;
	for (; shift <= 63; shift++) {
		if (!rebin(cells, shift))
			return false;
		if (cells->count <= cells->limit / 2)
			return true;
		if (bin_of(first, shift) == bin_of(last, shift))
			break;
	}
	/* The table of recent cells did not find all equal ones. */
	if (!cells_sort(cells))
		return false;
	if (cells->count > cells->limit / 2)
		cells->limit *= 2;
	return rebin(cells, cells->shift);
}

bool cells_add(struct cells *cells, const struct sp_cell *cell)
{
	struct sp_cell added = *cell;
	if (cells->count >= cells->limit && !make_room(cells))
		return false;
	added.time_ns = bin_of(added.time_ns, cells->shift);
	return put(cells, &added);
}

bool cells_widen(struct cells *cells, unsigned int shift)
{
	return shift <= cells->shift || rebin(cells, shift);
}

static size_t digit(const struct sp_cell *cell, unsigned int i)
{
	uint64_t word = i < 3 ? cell->node : i < 6 ? cell->thread : cell->time_ns;
	return word >> DIGIT_BITS * (i < 6 ? i % 3 : i - 6) & ((1 << DIGIT_BITS) - 1);
}

/* Copies cells in order of one digit; those with equal digits stay in their order. */
static void order_by(const struct cells *cells, unsigned int i, struct sp_cell *to)
{
	size_t begins[1 << DIGIT_BITS] = {0}, begin = 0;
	vec_each (cell, cells)
		begins[digit(cell, i)]++;
	for (size_t j = 0; j < 1 << DIGIT_BITS; j++) {
		size_t count = begins[j];
		begins[j] = begin;
		begin += count;
	}
	vec_each (item, cells)
		to[begins[digit(item, i)]++] = *item;
}

/* Sorts digit by digit: a million cells take 40 ms, and with qsort() up to 150. */
static bool sort(struct cells *cells)
{
	struct sp_cell differing = {0}, *other = malloc((cells->count + 1) * sizeof(*other));
	if (!other)
		return false;
	vec_each (cell, cells) {
		differing.time_ns |= cell->time_ns ^ cells->items->time_ns;
		differing.thread |= cell->thread ^ cells->items->thread;
		differing.node |= cell->node ^ cells->items->node;
	}
	for (unsigned int i = 0; i < DIGITS; i++) {
		if (!digit(&differing, i))
			continue;
		struct sp_cell *items = cells->items;
		order_by(cells, i, other);
		cells->items = other;
		cells->capacity = cells->count + 1;
		other = items;
	}
	free(other);
	return true;
}

bool cells_sort(struct cells *cells)
{
	size_t kept = 0;
	if (!sort(cells))
		return false;
	vec_each (cell, cells) {
		if (kept && is_same(&cells->items[kept - 1], cell))
			add(&cells->items[kept - 1], cell);
		else
			cells->items[kept++] = *cell;
	}
	cells->count = kept;
	return true;
}
