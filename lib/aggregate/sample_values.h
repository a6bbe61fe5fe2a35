/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of rows that are values of samples: each value as a word (profile/detail.h). */
#ifndef AGGREGATE_SAMPLE_VALUES_H
#define AGGREGATE_SAMPLE_VALUES_H

#include "aggregate/counted.h"

/*
 * Gets the words of a sample, or of one of its branches, for work->detail_keys. Code and data addresses
 * become indexes of frames. False when out of memory.
 */
bool sample_values(struct counted *counted, const struct sp_record *record,
		    const struct sp_branch *branch, uint32_t view, uint64_t *words);

/* Finds a branch's address in counted->answers. Branches have no mode. */
uint32_t branch_lookup(struct counted *counted, uint32_t view, uint64_t address);

/*
 * Converts values when labels exist: adds to `to` the tuple of `detail`, with functions in place of
 * frames, and `parent` for SP_KEY_PARENT (UINT32_MAX: none). Returns its index; UINT32_MAX when out of
 * memory.
 */
uint32_t row_values(const struct counted *counted, struct details *to, uint32_t detail,
		    uint32_t parent);

#endif
