/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of samples that are keys of rows, such as weight or data address. Each value is a 64-bit word
 * (profile/detail.h).
 */
#pragma once

#include "samples/counted.h"

/*
 * Gets the values of a sample, or of one of its branches, for the keys in work->keys->details. Code
 * and data addresses are stored as indexes of frames. Returns false when out of memory.
 */
bool sample_values(struct counted *counted, const struct sp_record *record,
		    const struct sp_branch *branch, uint32_t view, uint64_t *words);

/* Returns the number of the process's threads that could run; DETAIL_NONE: unknown. */
uint64_t sample_parallelism(const struct work *work, const struct sp_sample *sample);

/* Returns a value of key_is_of_command(), of a process; DETAIL_NONE: unknown. */
uint64_t command_word(const struct machine *machine, enum sp_key key, uint32_t pid,
		      uint64_t time_ns);

/* Values of a row's samples that depend on the leaf. */
struct leaf_values {
	uint32_t parent; /* SP_KEY_PARENT; UINT32_MAX: none */
	uint64_t state;  /* SP_KEY_STATE (leaf_times.h); DETAIL_NONE: unknown */
	uint64_t syscall; /* SP_KEY_SYSCALL, a text; DETAIL_NONE: unknown */
};

/* Finds the frame of a branch's address, and returns its answer. A branch does not state its mode. */
uint32_t branch_lookup(struct counted *counted, uint32_t view, uint64_t address);

/*
 * Converts the tuple `detail` of a worker when labels exist, with functions in place of frames, and
 * adds it to `to` (details_add()).
 */
uint32_t row_values(const struct counted *counted, struct details *to, uint32_t detail,
		    const struct leaf_values *of);

/* Returns whether a sample has a latency, a data address or a data source. */
bool sample_has_access(const struct sp_sample *sample);
