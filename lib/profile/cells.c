/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/cells.h"

#include <stdlib.h>
#include "base/hash.h"
#include "profile/interval.h"

/* Number of bins, as a part of the limit, when cells are first added up: finer ones rarely save cells. */
#define BINS_PART 16

void cells_deinit(struct cells *cells)
{
	vec_deinit(cells);
	free(cells->slots);
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

/* Returns the slot of an equal cell, or the empty slot for it. */
static size_t slot_of(const struct cells *cells, const struct sp_cell *cell)
{
	uint64_t key = (uint64_t)cell->thread << 32 | cell->node;
	size_t mask = cells->slot_count - 1, slot = hash_pair(cell->time_ns, key) & mask;
	while (cells->slots[slot] && !is_same(&cells->items[cells->slots[slot] - 1], cell))
		slot = (slot + 1) & mask;
	return slot;
}

/* Moves all cells to bins of a width, and adds up equal ones. False when out of memory. */
static bool rebin(struct cells *cells, unsigned int shift)
{
	size_t count = 16, kept = 0;
	while (count < 2 * cells->limit || count < 2 * cells->count)
		count *= 2;
	uint32_t *slots = table_alloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(cells->slots);
	cells->slots = slots;
	cells->slot_count = count;
	cells->binned = true;
	cells->shift = shift;
	for (size_t i = 0; i < cells->count; i++) {
		struct sp_cell cell = cells->items[i];
		cell.time_ns = bin_of(cell.time_ns, shift);
		size_t slot = slot_of(cells, &cell);
		if (slots[slot]) {
			add(&cells->items[slots[slot] - 1], &cell);
			continue;
		}
		cells->items[kept] = cell;
		slots[slot] = (uint32_t)++kept;
	}
	cells->count = kept;
	return true;
}

/* Widens the bins until at least half of the limit is free. False when out of memory. */
static bool make_room(struct cells *cells)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < cells->count; i++) {
		uint64_t time_ns = cells->items[i].time_ns;
		first = time_ns < first ? time_ns : first;
		last = time_ns > last ? time_ns : last;
	}
	unsigned int shift = cells->shift + cells->binned;
	while (!cells->binned && shift < 63 && (last - first) >> shift > cells->limit / BINS_PART)
		shift++;
	for (; shift <= 63; shift++) {
		if (!rebin(cells, shift))
			return false;
		if (cells->count <= cells->limit / 2)
			return true;
		if (bin_of(first, shift) == bin_of(last, shift))
			break;
	}
	cells->limit *= 2;
	return rebin(cells, cells->shift);
}

bool cells_add(struct cells *cells, const struct sp_cell *cell)
{
	struct sp_cell added = *cell;
	if (cells->count >= cells->limit && !make_room(cells))
		return false;
	added.time_ns = bin_of(added.time_ns, cells->shift);
	size_t slot = cells->binned ? slot_of(cells, &added) : 0;
	if (cells->binned && cells->slots[slot]) {
		add(&cells->items[cells->slots[slot] - 1], &added);
		return true;
	}
	struct sp_cell *new = vec_push(cells);
	if (!new)
		return false;
	*new = added;
	if (cells->binned)
		cells->slots[slot] = (uint32_t)cells->count;
	return true;
}

bool cells_widen(struct cells *cells, unsigned int shift)
{
	return shift <= cells->shift || rebin(cells, shift);
}

static int compare(const void *a, const void *b)
{
	const struct sp_cell *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

void cells_sort(struct cells *cells)
{
	size_t kept = 0;
	if (cells->count)
		qsort(cells->items, cells->count, sizeof(*cells->items), compare);
	for (size_t i = 0; i < cells->count; i++) {
		if (kept && is_same(&cells->items[kept - 1], &cells->items[i]))
			add(&cells->items[kept - 1], &cells->items[i]);
		else
			cells->items[kept++] = cells->items[i];
	}
	cells->count = kept;
}
