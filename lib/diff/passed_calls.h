/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls that pass a frame which only the other side has. A compiler that inlines parse() into
 * run(), or makes its call of read() a jump, leaves "run > read" of "run > parse > read". Without
 * a match, all calls below would be gone from one place and new at another.
 */
#pragma once

#include "diff/compared_tree.h"

/*
 * Moves such calls of a merged tree below the frame, and unites them with those of the other side.
 * The frame gets their weight. Nodes of less than the least share stay.
 */
struct sp_error *passed_calls_match(struct compared_tree *tree, const struct run_set *set,
				    struct run_tree *trees, double least_share) SP_MUST_CHECK;
