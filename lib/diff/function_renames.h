/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "diff/compared_tree.h"

/*
 * Sets `other_name` of pairs of rows that are gone and new, if they may be one function: both have
 * one file and one comm, neither takes more than twice as much time as the other, and either their
 * names and their callers or callees are alike, or nearly all callers and callees. If the tree is
 * empty, the names decide. Only the first 500 rows are examined. Strings of rows and nodes are
 * interned.
 */
struct sp_error *function_renames_find(struct sp_diff_row *rows, size_t count,
				       const struct compared_tree *tree) SP_MUST_CHECK;
