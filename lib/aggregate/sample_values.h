/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys of rows that are values of samples: what a sample says of each, as a word
 * (profile/detail.h), and what people see of that.
 */
#ifndef AGGREGATE_SAMPLE_VALUES_H
#define AGGREGATE_SAMPLE_VALUES_H

#include "aggregate/counted.h"

/*
 * The words of a sample, or of one branch of it, by work->detail_keys; what is at an address
 * is a frame's index. False when out of memory.
 */
bool sample_values(struct counted *counted, const struct sp_record *record,
		    const struct sp_branch *branch, uint32_t view, uint64_t *words);

/* Looks up an address of a branch, whose mode is unknown, in counted->answers. */
uint32_t branch_lookup(struct counted *counted, uint32_t view, uint64_t address);

/*
 * When labels are made: adds to `to` the tuple of `detail`, with functions in place of frames and
 * `parent` as the one of SP_KEY_PARENT (UINT32_MAX: none). Its index; UINT32_MAX when out of memory.
 */
uint32_t row_values(const struct counted *counted, struct details *to, uint32_t detail,
		    uint32_t parent);

#endif
