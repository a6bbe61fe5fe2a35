/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/row_order.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "out/report.h"

/* A row, with its place in the last report. */
struct placed {
	struct table_line line;
	const struct sp_share *share;
	uint64_t hash;
	size_t place; /* SIZE_MAX: it is new */
};

void row_order_deinit(struct row_order *order)
{
	free(order->rows);
	*order = (struct row_order){0};
}

/* FNV-1a. */
static void hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	for (size_t i = 0; i < size; i++)
		*hash = (*hash ^ at[i]) * 0x100000001b3;
}

uint64_t row_order_hash(const struct report *report, const struct sp_row *row)
{
	uint64_t hash = 0xcbf29ce484222325;
	hash_bytes(&hash, &row->level, sizeof(row->level));
	for (size_t i = 0; i < report->key_count; i++) {
		enum sp_key key = report->keys[i];
		int64_t number = -1;
		const char *text = sp_key_is_number(key) ? NULL : row_text(row, key);
		if (text)
			hash_bytes(&hash, text, strlen(text) + 1);
		else if (sp_key_is_number(key) && row_number(row, key, &number))
			hash_bytes(&hash, &number, sizeof(number));
		hash_bytes(&hash, &key, sizeof(key));
	}
	return hash;
}

static int compare_hashes(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	return (x->hash > y->hash) - (x->hash < y->hash);
}

static int compare_places(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	return (x->place > y->place) - (x->place < y->place);
}

/* Sets the places of rows, and orders them by these; new rows are last, in their order. */
static void find_places(const struct row_order *order, struct placed *rows, size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_hashes);
	for (size_t i = 0; i < order->count; i++) {
		const struct placed key = {.hash = order->rows[i]};
		struct placed *found = bsearch(&key, rows, count, sizeof(*rows), compare_hashes);
		if (found)
			found->place = i;
	}
	qsort(rows, count, sizeof(*rows), compare_places);
}

static void move_up(struct placed *rows, size_t from, size_t to)
{
	const struct placed row = rows[from];
	memmove(rows + to + 1, rows + to, (from - to) * sizeof(*rows));
	rows[to] = row;
}

/* Rows from the heaviest on that are ordered. */
#define ROWS_MAX 256

/*
 * Returns whether `a` is clearly below `b`: its interval is, or it alone has no weight. The
 * interval of no weight is wide: it overlaps those of rows with few samples.
 */
static bool is_below(const struct sp_share *a, const struct sp_share *b)
{
	return a->high < b->low || (!(a->value > 0) && b->value > 0);
}

/*
 * Moves each row before the first one that is below it. That order is partial, but transitive: the
 * rows before it stay in order.
 */
static void sort_intervals(struct placed *rows, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = 0; j < i; j++)
			if (is_below(rows[j].share, rows[i].share)) {
				move_up(rows, i, j);
				break;
			}
}

/* Moves each new row before the first one with less weight. They are ordered by weight. */
static void insert_new(struct placed *rows, size_t old, size_t count)
{
	for (size_t i = old, j = 0; i < count; i++, j++) {
		while (j < i && rows[j].share->value >= rows[i].share->value)
			j++;
		move_up(rows, i, j);
	}
}

void row_order_apply(struct row_order *order, const struct report *report, struct table_line *rows,
		     size_t count)
{
	count = count < ROWS_MAX ? count : ROWS_MAX;
	struct placed *placed = xcalloc(count + 1, sizeof(*placed));
	uint64_t *hashes = xcalloc(count + 1, sizeof(*hashes));
	size_t old = 0;
	for (size_t i = 0; i < count; i++)
		placed[i] = (struct placed){rows[i], &row_order_weight(report, rows[i].row)->share,
					    row_order_hash(report, rows[i].row), order->count + i};
	find_places(order, placed, count);
	while (old < count && placed[old].place < order->count)
		old++;
	insert_new(placed, old, count);
	sort_intervals(placed, count);
	for (size_t i = 0; i < count; i++) {
		rows[i] = placed[i].line;
		hashes[i] = placed[i].hash;
	}
	free(placed);
	free(order->rows);
	*order = (struct row_order){hashes, count};
}
