/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts one sample under its thread, its group and its call chain. */
#pragma once

#include "samples/counted.h"

/*
 * Thread, time, CPU and address space of a sample, and whether it passes the filters. The thread of
 * a wake-up is the woken one; the address space is the waker's.
 */
struct sample_origin {
	struct task *task;
	uint64_t time_ns; /* converted to the machine's clock */
	uint32_t cpu;     /* UINT32_MAX: unknown */
	uint8_t replicate; /* replicate that the sample is assigned to; see struct group */
	bool shown;       /* the sample passes all filters except those by its code */
	uint32_t view;    /* address space view for its addresses, from stacks_view() */
	bool replaced;    /* see struct stack_query */
};

/*
 * Finds the thread and address space of a sample. Returns false when out of memory. ret->task is
 * valid until the next call.
 */
bool sample_find_origin(struct counted *counted, const struct sp_record *record,
			struct sample_origin *ret);

/*
 * Returns the root of the chains for a task, an event and values. `words` is NULL if no key is a
 * value. `kernel_chain`: see struct group. Returns RADIX_NONE when out of memory.
 */
uint32_t sample_root(struct counted *counted, const struct sample_origin *origin, uint16_t event,
		     const uint64_t *words, uint32_t kernel_chain);

/*
 * Returns the leaf for an answer (names.h) under a node, and adds it if it is new. Out of memory:
 * sets `failed`, and returns 0, for which there is always room.
 */
uint32_t sample_leaf(struct counted *counted, uint32_t node, uint32_t answer);

/* Adds sums to a leaf that filters by function names may still reject. */
void leaf_add_pending(struct counted *counted, uint32_t leaf, const struct weight_sums *sums);

/* Counts a sample for one event, with its weight there, in the sums before filters. */
void count_before_filters(struct counted *counted, const struct sp_record *record, uint16_t event,
			  uint64_t weight);

/* Adds the blocked time of a sample of times->place_event to the place where its thread waits. */
void count_place(struct counted *counted, const struct sp_record *record);

/*
 * Counts a sample, or the part of it in counted->sample.time, for one event, with its weight there.
 * The stacks of samples outside of --time are not read.
 */
void count_sample(struct counted *counted, const struct sp_record *record, uint16_t event,
		  uint64_t weight);

/*
 * Counts the samples with truncated stacks, when it is known which stacks can be repaired
 * (`repaired`).
 */
struct sp_error *count_truncated_samples(struct counted *counted) SP_MUST_CHECK;
