/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts one sample: its thread, its group and its chain. */
#ifndef AGGREGATE_SAMPLE_COUNTER_H
#define AGGREGATE_SAMPLE_COUNTER_H

#include "aggregate/counted.h"

/* A sample's thread and address space, and whether they pass the filters. */
struct place_of_sample {
	struct task *task;
	uint64_t time_ns; /* converted to the machine's clock */
	uint32_t cpu;     /* UINT32_MAX: unknown */
	uint8_t replicate; /* see struct group */
	bool shown;       /* passes all filters except those on its code */
	uint32_t view;    /* stacks_view() */
};

/*
 * Finds the sample's thread and address space; false when out of memory. The task is valid until the
 * next call.
 */
bool sample_place(struct counted *counted, const struct sp_record *record,
		  struct place_of_sample *ret);

/*
 * Returns the root for chains and leaves of a task and event with these values. `words` NULL: no key is
 * a value. RADIX_NONE when out of memory.
 */
uint32_t sample_root(struct counted *counted, const struct place_of_sample *place, uint16_t event,
		     const uint64_t *words);

/*
 * Returns the leaf for an answer (names.h) under a node, added if new; UINT32_MAX when out of memory.
 */
uint32_t sample_leaf(struct counted *counted, uint32_t node, uint32_t answer);

/* Adds sums that the leaf shows if its function passes the filters; false when out of memory. */
bool leaf_add_pending(struct counted *counted, uint32_t leaf, const struct weight_sums *sums);

/* Counts a sample with a weight for one event. */
struct sp_error *count_sample(struct counted *counted, const struct sp_record *record,
			      uint16_t event, uint64_t weight) SP_MUST_CHECK;

/* Counts the samples with truncated stacks, after `repaired` is settled. */
struct sp_error *count_truncated_samples(struct counted *counted) SP_MUST_CHECK;

#endif
