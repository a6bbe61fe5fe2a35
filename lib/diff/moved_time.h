/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time that moved between a function and those inlined into it. A build that inlines hash() into
 * its caller, or places its lines elsewhere, changes the rows of both without a change of speed.
 */
#pragma once

#include "diff/compared_tree.h"

/* Rows before they are sorted, and the functions of the runs' trees. */
struct moved_rows {
	struct sp_diff_row *items;
	size_t count;
	const uint32_t *row_of;	   /* by function; UINT32_MAX: it has no row */
	const uint32_t *functions; /* function that a node's `function` counts for */
};

/*
 * Sets the verdict SP_DIFF_MOVED of rows with a found change that opposite changes make up for: of
 * functions with inlined code in the same function, or of callers and callees of one side only.
 */
struct sp_error *moved_time_find(const struct moved_rows *rows, const struct run_tree *trees,
				 size_t run_count) SP_MUST_CHECK;
