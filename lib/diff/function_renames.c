/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "diff/function_renames.h"

#include <math.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"

/* Least similarities, 0 to 1. */
#define WEIGHT_ALIKE 0.5
#define NAME_ALIKE 0.4
#define NEIGHBOURS_ALIKE 0.5
#define NEIGHBOURS_EQUAL 0.8

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"

/* Rows that are examined. They are ordered by importance: rows with a found change come first. */
#define ROWS_MAX 500

/* Weight of a function's callers (or callees) of one name. */
struct neighbour {
	uint32_t row;
	bool is_callee;
	const char *name;
	double weight;
};

struct neighbours {
	VEC(struct neighbour);
	struct u64map numbers; /* hash of (row, is_callee, name) -> index; collisions merge */
	double *sums[2];       /* by is_callee and row */
};

/*
 * Returns the last word of letters, digits and "_" outside of brackets, and its size: the name
 * without namespaces and arguments; of "a::(anonymous namespace)::f<int>(b::c)" the "f".
 */
static const char *base_name(const char *name, size_t *size)
{
	const char *word = name;
	int depth = 0;
	*size = 0;
	while (*name) {
		size_t letters = strspn(name, LETTERS);
		/* "const" follows arguments. */
		if (letters && !depth && (!*size || name[-1] != ' ' || name[-2] != ')')) {
			word = name;
			*size = letters;
		}
		depth += strchr("(<{[", *name) ? 1 : strchr(")>}]", *name) && depth ? -1 : 0;
		name += letters ? letters : 1;
	}
	return word;
}

/* Returns the part of the pairs of adjacent letters that both names have (Dice's coefficient). */
static double name_likeness(const char *a, const char *b)
{
	size_t size_a, size_b, common = 0;
	a = base_name(a, &size_a);
	b = base_name(b, &size_b);
	unsigned char counts[1024] = {0};
	for (size_t i = 1; i < size_a; i++)
		counts[hash_pair((unsigned char)a[i - 1], (unsigned char)a[i]) % sizeof(counts)]++;
	for (size_t i = 1; i < size_b; i++) {
		unsigned char *count =
			&counts[hash_pair((unsigned char)b[i - 1], (unsigned char)b[i]) %
				sizeof(counts)];
		common += *count > 0;
		*count -= *count > 0;
	}
	if (size_a < 2 || size_b < 2)
		return size_a == size_b && !memcmp(a, b, size_a);
	return 2 * (double)common / (double)(size_a + size_b - 2);
}

static bool add_neighbour(struct neighbours *all, uint32_t row, bool is_callee, const char *name,
			  double weight)
{
	uint64_t key = hash_pair(2 * (uint64_t)row + is_callee, (uintptr_t)name);
	struct neighbour *item = u64map_item(&all->numbers, key, all);
	if (!item)
		return false;
	*item = (struct neighbour){row, is_callee, name, item->weight + weight};
	all->sums[is_callee][row] += weight;
	return true;
}

/* Finds the rows' callers and callees. row_of: interned name -> row. */
static bool find_neighbours(struct neighbours *all, const struct compared_tree *tree,
			    const struct u64map *row_of)
{
	bool done = true;
	for (size_t i = 1; done && i < tree->nodes.count; i++) {
		const struct sp_diff_node *node = &tree->nodes.items[i];
		const struct sp_diff_node *parent = &tree->nodes.items[node->parent];
		double weight = node->base + node->now;
		if (!node->function || node->function == parent->function)
			continue;
		const uint32_t *row = u64map_find(row_of, (uintptr_t)node->function);
		const uint32_t *caller = u64map_find(row_of, (uintptr_t)parent->function);
		if (row)
			done = add_neighbour(all, *row, false, parent->function, weight);
		if (done && caller)
			done = add_neighbour(all, *caller, true, node->function, weight);
	}
	return done;
}

/* Returns the common part of two rows' callers or callees; 1: neither has any. */
static double neighbour_likeness(const struct neighbours *all, uint32_t a, uint32_t b,
				 bool is_callee)
{
	const double *sums = all->sums[is_callee];
	double common = 0;
	if (!(sums[a] > 0) || !(sums[b] > 0))
		return !(sums[a] > 0) && !(sums[b] > 0);
	vec_each (of_a, all) {
		if (of_a->row != a || of_a->is_callee != is_callee)
			continue;
		uint64_t key = hash_pair(2 * (uint64_t)b + is_callee, (uintptr_t)of_a->name);
		const uint32_t *number = u64map_find(&all->numbers, key);
		if (number)
			common +=
				fmin(of_a->weight / sums[a], all->items[*number].weight / sums[b]);
	}
	return common;
}

/* Returns how alike the rows are, 0 to 3; 0: they are not one function. */
static double likeness(const struct neighbours *all, const struct sp_diff_row *rows, uint32_t gone,
		       uint32_t now)
{
	double base = rows[gone].change.base, weight = rows[now].change.now;
	if (rows[gone].dso != rows[now].dso || rows[gone].comm != rows[now].comm ||
	    fmin(base, weight) < WEIGHT_ALIKE * fmax(base, weight))
		return 0;
	double names = name_likeness(rows[gone].function, rows[now].function);
	double callers = neighbour_likeness(all, gone, now, false);
	double callees = neighbour_likeness(all, gone, now, true);
	bool named = names >= NAME_ALIKE && fmax(callers, callees) >= NEIGHBOURS_ALIKE;
	bool placed = fmin(callers, callees) >= NEIGHBOURS_EQUAL && all->sums[true][gone] > 0;
	return named || placed ? names + callers + callees : 0;
}

static bool is_gone(const struct sp_diff_row *row)
{
	return row->function && row->change.verdict == SP_DIFF_GONE;
}

static bool is_new(const struct sp_diff_row *row)
{
	return row->function && row->change.verdict == SP_DIFF_APPEARED;
}

/* Pairs two rows if each is most like the other. Returns false when out of memory. */
static bool pair_rows(const struct neighbours *all, struct sp_diff_row *rows, size_t count)
{
	struct best {
		double likeness;
		uint32_t row;
	};
	CLEANUP_FREE struct best *best = calloc(count + 1, sizeof(*best));
	for (uint32_t i = 0; best && i < count; i++)
		for (uint32_t j = 0; is_gone(&rows[i]) && j < count; j++) {
			double alike = is_new(&rows[j]) ? likeness(all, rows, i, j) : 0;
			if (alike > best[i].likeness)
				best[i] = (struct best){alike, j};
			if (alike > best[j].likeness)
				best[j] = (struct best){alike, i};
		}
	for (uint32_t i = 0; best && i < count; i++)
		if (best[i].likeness > 0 && best[best[i].row].row == i)
			rows[i].other_name = rows[best[i].row].function;
	return best;
}

struct sp_error *function_renames_find(struct sp_diff_row *rows, size_t count,
				       const struct compared_tree *tree)
{
	struct neighbours all = {0};
	struct u64map row_of = {0};
	count = count < ROWS_MAX ? count : ROWS_MAX;
	CLEANUP_FREE double *callers = calloc(count + 1, sizeof(*callers));
	CLEANUP_FREE double *callees = calloc(count + 1, sizeof(*callees));
	NEED(callers && callees);
	all.sums[false] = callers;
	all.sums[true] = callees;
	bool done = true;
	for (uint32_t i = 0; done && i < count; i++)
		if (is_gone(&rows[i]) || is_new(&rows[i]))
			done = u64map_put(&row_of, (uintptr_t)rows[i].function, i, NULL);
	if (done && row_of.count > 1)
		done = find_neighbours(&all, tree, &row_of) && pair_rows(&all, rows, count);
	vec_deinit(&all);
	u64map_deinit(&all.numbers);
	u64map_deinit(&row_of);
	NEED(done);
	return NULL;
}
