/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Branch types of branch_sample_type, by their names in perf's -j. */
#ifndef EVENT_BRANCH_H
#define EVENT_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BRANCH_TYPE_NAMES                                                                     \
	"any, any_call, any_ret, ind_call, ind_jmp, call, cond, abort_tx, in_tx, no_tx, u, k, hv, " \
	"stack, no_flags, no_cycles, save_type, hw_index, priv, counter"

/*
 * Converts "any,u" to PERF_SAMPLE_BRANCH_*. `separator` is between names. False if a name is unknown.
 */
bool branch_types_parse(const char *text, size_t size, char separator, uint64_t *ret);

#endif
