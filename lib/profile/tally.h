/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adds up rows while call chains are gone through as a tree, from the outermost
 * call down. A row's total counts a chain once, however often it passes through
 * the row: what counts is the outermost of its calls.
 */
#ifndef PROFILE_TALLY_H
#define PROFILE_TALLY_H

#include <sprof/profile.h>
#include "base/hash.h"
#include "base/vec.h"
#include "profile/function.h"

#define TALLY_NONE UINT32_MAX

struct tally {
	uint32_t group;    /* the caller's number */
	uint32_t function; /* index of functions; TALLY_NONE: no key of the rows distinguishes code */
	uint64_t self_samples, self_weight, total_samples, total_weight; /* saturating */
	uint32_t open;     /* calls of this row on the way to where we are */
};

struct tallies {
	bool keys[SP_KEY_COUNT]; /* keys of the rows */
	VEC(struct tally);
	struct u64map index_of;  /* (group, function) -> index */
	VEC(uint32_t) recent;    /* by function: the index of its row + 1 that was asked for last */
};

/* All zero but `keys` is empty. */
void tallies_deinit(struct tallies *tallies);

/*
 * The row of a function in a group, whose indexes are the caller's; TALLY_NONE when out of
 * memory.
 */
uint32_t tallies_row(struct tallies *tallies, uint32_t group, uint32_t function);

/* Goes down through a call of the row; all chains through here have these sums. */
void tallies_open(struct tallies *tallies, uint32_t row, uint64_t samples, uint64_t weight);

/* Back up again. */
void tallies_close(struct tallies *tallies, uint32_t row);

/* Samples in the row itself. */
void tallies_self(struct tallies *tallies, uint32_t row, uint64_t samples, uint64_t weight);

/* Adds the sums of one list's row to another's; false when out of memory. */
bool tallies_merge(struct tallies *into, uint32_t group, const struct tally *tally);

#endif
