/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "diff/moved_time.h"

#include <math.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"

/* Least part of a change that opposite changes make up for. */
#define MOVED_LEAST (2.0 / 3)

#define NO_ROW UINT32_MAX

/* A row's function has code in another function's body, or is called by it. */
struct moved_link {
	uint32_t row, function;
	bool is_call;
};

struct links {
	VEC(struct moved_link);
	struct u64map known;
};

static bool add_link(struct links *links, uint32_t row, uint32_t function, bool is_call)
{
	uint64_t key = (uint64_t)row << 33 | (uint64_t)function << 1 | is_call;
	struct moved_link *link = u64map_item(&links->known, key, links);
	if (link)
		*link = (struct moved_link){row, function, is_call};
	return link;
}

static bool is_of_one_side(const struct moved_rows *rows, uint32_t row)
{
	const struct sp_diff_row *of = row == NO_ROW ? NULL : &rows->items[row];
	return of && (of->change.verdict == SP_DIFF_APPEARED || of->change.verdict == SP_DIFF_GONE);
}

/* Adds the links of one run. `bodies` has a number for each node. */
static bool add_links(struct links *links, const struct moved_rows *rows,
		      const struct run_tree *tree, uint32_t *bodies)
{
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct run_node *node = &tree->items[i];
		uint32_t function = rows->functions[node->function], row = rows->row_of[function];
		uint32_t caller = rows->functions[tree->items[node->parent].function];
		bool is_call = !node->inlined && node->parent &&
			       (is_of_one_side(rows, row) ||
				is_of_one_side(rows, rows->row_of[caller]));
		bodies[i] = node->inlined && node->parent ? bodies[node->parent] : function;
		if (row == NO_ROW)
			continue;
		if (!add_link(links, row, bodies[i], false) ||
		    (is_call && !add_link(links, row, caller, true)))
			return false;
	}
	return true;
}

/* Adds the row's change to the sums if it is opposite to that of `of`, and not by chance. */
static void add_opposite(struct sp_diff_row *of, const struct sp_diff_row *row, double *opposite,
			 double *most)
{
	double change = row->change.now - row->change.base;
	bool is_clear = row->change.verdict >= SP_DIFF_SLOWER ||
			(change > 0 ? row->change.low > 0 : row->change.high < 0);
	if (!is_clear || change * (of->change.now - of->change.base) >= 0)
		return;
	of->moved_others += *opposite > 0;
	*opposite += fabs(change);
	of->together_base += row->change.base;
	of->together_now += row->change.now;
	if (fabs(change) > *most) {
		*most = fabs(change);
		of->moved_with = row->function;
	}
}

/* Compares a row with those of linked functions. `seen` and `bodies` hold numbers below `stamp`. */
static void judge_row(const struct moved_rows *rows, const struct links *links, uint32_t index,
		      uint32_t stamp, uint32_t *seen, uint32_t *bodies)
{
	struct sp_diff_row *row = &rows->items[index];
	double opposite = 0, most = 0;
	row->together_base = row->change.base;
	row->together_now = row->change.now;
	vec_each (link, links)
		if (link->row == index && !link->is_call)
			bodies[link->function] = stamp;
	seen[index] = stamp;
	vec_each (link, links) {
		uint32_t other = link->row;
		if (link->is_call && other == index)
			other = rows->row_of[link->function];
		else if (link->is_call ? rows->row_of[link->function] != index
				       : bodies[link->function] != stamp)
			continue;
		if (other == NO_ROW || seen[other] == stamp)
			continue;
		seen[other] = stamp;
		add_opposite(row, &rows->items[other], &opposite, &most);
	}
	if (opposite >= MOVED_LEAST * fabs(row->change.now - row->change.base))
		row->change.verdict = SP_DIFF_MOVED;
	else
		row->moved_with = NULL;
}

struct sp_error *moved_time_find(const struct moved_rows *rows, const struct run_tree *trees,
				 size_t run_count)
{
	struct links links = {0};
	size_t most = 0, functions = 0;
	bool done = true;
	for (size_t i = 0; i < run_count; i++) {
		most = trees[i].count > most ? trees[i].count : most;
		vec_each (node, &trees[i])
			if (rows->functions[node->function] >= functions)
				functions = (size_t)rows->functions[node->function] + 1;
	}
	CLEANUP_FREE uint32_t *of_nodes = calloc(most + 1, sizeof(*of_nodes));
	CLEANUP_FREE uint32_t *bodies = calloc(functions + 1, sizeof(*bodies));
	CLEANUP_FREE uint32_t *seen = calloc(rows->count + 1, sizeof(*seen));
	NEED(of_nodes && bodies && seen);
	for (size_t i = 0; done && i < run_count; i++)
		done = add_links(&links, rows, &trees[i], of_nodes);
	for (uint32_t i = 0; done && i < rows->count; i++)
		if (change_is_found(&rows->items[i].change) && !rows->items[i].is_rest)
			judge_row(rows, &links, i, i + 1, seen, bodies);
	vec_deinit(&links);
	u64map_deinit(&links.known);
	NEED(done);
	return NULL;
}
