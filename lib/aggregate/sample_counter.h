/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts one sample: its thread, its group and its chain. */
#ifndef AGGREGATE_SAMPLE_COUNTER_H
#define AGGREGATE_SAMPLE_COUNTER_H

#include "aggregate/counted.h"

/* A sample's thread, its address space, and what the filters say of both. */
struct place_of_sample {
	struct task *task;
	uint64_t time_ns; /* in the machine's time */
	uint32_t cpu;     /* UINT32_MAX: not known */
	uint8_t replicate; /* see struct group */
	bool shown;       /* but for where its code is */
	uint32_t view;    /* stacks_view() */
};

/* The sample's; false when out of memory. The task is valid until the next call. */
bool sample_place(struct counted *counted, const struct sp_record *record,
		  struct place_of_sample *ret);

/*
 * The root that chains and leaves are put under: of the task, event, and what rows are by. NULL
 * as `words`: nothing is by details. RADIX_NONE when out of memory.
 */
uint32_t sample_root(struct counted *counted, const struct place_of_sample *place, uint16_t event,
		     const uint64_t *words);

/* The leaf of an answer (names.h) under a node; UINT32_MAX when out of memory. */
uint32_t sample_leaf(struct counted *counted, uint32_t node, uint32_t answer);

/* Adds to what the leaf has if its function is shown; false when out of memory. */
bool leaf_add_pending(struct counted *counted, uint32_t leaf, const struct weight_sums *sums);

/* Counts a sample of `weight` for one event. */
struct sp_error *count_sample(struct counted *counted, const struct sp_record *record,
			      uint16_t event, uint64_t weight) SP_MUST_CHECK;

/* Counts the samples with truncated stacks; after `repaired` is settled. */
struct sp_error *count_truncated_samples(struct counted *counted) SP_MUST_CHECK;

#endif
