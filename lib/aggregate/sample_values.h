/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys of rows that are values of samples: what a sample says of each, as a word
 * (profile/detail.h), and what people see of that.
 */
#ifndef AGGREGATE_SAMPLE_VALUES_H
#define AGGREGATE_SAMPLE_VALUES_H

#include "aggregate/run.h"

/*
 * The words of a sample, or of one branch of it, by work->detail_keys; what is at an address
 * is a frame's index. False when out of memory.
 */
bool worker_details(struct worker *worker, const struct sp_record *record,
		    const struct sp_branch *branch, uint32_t view, uint64_t *words);

/* What is at an address of a branch, whose mode nothing says: as lookup_find(). */
uint32_t worker_find_branch(struct worker *worker, uint32_t view, uint64_t address);

/*
 * When labels are made: the tuple of `detail` in row_details, where functions stand for frames,
 * and `parent` is the one of SP_KEY_PARENT (UINT32_MAX: none). UINT32_MAX when out of memory.
 */
uint32_t worker_row_detail(struct worker *worker, uint32_t detail, uint32_t parent);

/* As struct profile_values has it; `arg` is a struct run. */
bool describe_value(void *arg, enum sp_key key, uint64_t word, uint64_t samples,
		    struct sp_value *ret);

#endif
