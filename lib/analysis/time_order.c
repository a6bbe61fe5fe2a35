/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/time_order.h"

#include <stdlib.h>
#include <string.h>

/* Returns the row's time; rows without a time come last. */
static uint64_t time_of(const struct sp_row *row)
{
	const struct sp_value *value = sp_row_value(row, SP_KEY_TIME);
	return value && value->text ? value->number : UINT64_MAX;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct sp_row *x = a, *y = b;
	const bool *children = arg;
	uint64_t x_ns = time_of(x), y_ns = time_of(y);
	if (x_ns != y_ns)
		return x_ns < y_ns ? -1 : 1;
	int order = *children ? profile_compare_weights(&x->total, &y->total)
			      : profile_compare_weights(&x->self, &y->self);
	return order ? order : profile_compare_names(x, y);
}

static int compare_joint(const void *a, const void *b, void *arg)
{
	const struct sp_joint_row *x = a, *y = b;
	return compare(x->row, y->row, arg);
}

/* Returns a sorted copy of the rows, by total weight if `children`. NULL when out of memory. */
static const void *order(struct sp_analysis *analysis, const void *rows, size_t count, size_t size,
			 int (*comparison)(const void *, const void *, void *),
			 bool children)
{
	void *copy = arena_alloc(&analysis->arena, count * size + 1);
	if (!copy)
		return NULL;
	if (count)
		memcpy(copy, rows, count * size);
	qsort_r(copy, count, size, comparison, &children);
	return copy;
}

bool order_rows_by_time(struct sp_analysis *analysis, const struct analysis_options *options)
{
	if (!options->rows.time_offsets || options->rows.keys[0] != SP_KEY_TIME)
		return true;
	bool children = options->rows.children;
	for (size_t i = 0; i < analysis->profile_count; i++) {
		struct sp_profile *profile = &analysis->profiles[i];
		const void *rows = order(analysis, profile->rows, profile->row_count,
					 sizeof(struct sp_row), compare, children);
		if (!rows)
			return false;
		profile->rows = rows;
	}
	for (size_t i = 0; i < analysis->groups.count; i++) {
		struct sp_group *group = &analysis->groups.items[i];
		const void *rows = order(analysis, group->rows, group->row_count,
					 sizeof(struct sp_joint_row), compare_joint, children);
		if (!rows)
			return false;
		group->rows = rows;
	}
	return true;
}
