/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/cells.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/interval.h"

/* Number of bins, as a part of the limit, when cells are first added up: finer ones rarely save cells. */
#define BINS_PART 16

/*
 * Size of the table of recent cells. Samples are almost in order of time, so that equal cells are near each
 * other. A table of all cells would miss the processor's cache at each sample.
 */
#define RECENT (1 << 14)

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

static size_t hash_of(const struct sp_cell *cell)
{
	return hash_pair(cell->time_ns, (uint64_t)cell->thread << 32 | cell->node);
}

/*
 * Moves all cells to bins of a width, and adds up equal ones in the order of their first. False when out
 * of memory.
 */
static bool rebin(struct cells *cells, unsigned int shift)
{
	size_t count = 16, kept = 0;
	while (count < 2 * cells->count)
		count *= 2;
	CLEANUP_FREE uint32_t *slots = table_alloc(count, sizeof(*slots)); /* hash table of index + 1 */
	if (!slots || (!cells->recent && !(cells->recent = calloc(RECENT, sizeof(*cells->recent)))))
		return false;
	memset(cells->recent, 0, RECENT * sizeof(*cells->recent));
	cells->shift = shift;
	for (size_t i = 0; i < cells->count; i++) {
		struct sp_cell cell = cells->items[i];
		cell.time_ns = bin_of(cell.time_ns, shift);
		size_t slot = hash_of(&cell) & (count - 1);
		while (slots[slot] && !is_same(&cells->items[slots[slot] - 1], &cell))
			slot = (slot + 1) & (count - 1);
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

/*
 * Adds up equal cells, and widens the bins until at least half of the limit is free. False when out of
 * memory.
 */
static bool make_room(struct cells *cells)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < cells->count; i++) {
		uint64_t time_ns = cells->items[i].time_ns;
		first = time_ns < first ? time_ns : first;
		last = time_ns > last ? time_ns : last;
	}
	unsigned int shift = cells->shift;
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
	cells->limit *= 2;
	return rebin(cells, cells->shift);
}

bool cells_add(struct cells *cells, const struct sp_cell *cell)
{
	struct sp_cell added = *cell;
	if (cells->count >= cells->limit && !make_room(cells))
		return false;
	added.time_ns = bin_of(added.time_ns, cells->shift);
	uint32_t *recent = cells->recent ? &cells->recent[hash_of(&added) % RECENT] : NULL;
	if (recent && *recent && is_same(&cells->items[*recent - 1], &added)) {
		add(&cells->items[*recent - 1], &added);
		return true;
	}
	struct sp_cell *new = vec_push(cells);
	if (!new)
		return false;
	*new = added;
	if (recent)
		*recent = (uint32_t)cells->count;
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
