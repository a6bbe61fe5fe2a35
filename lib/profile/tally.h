/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of rows. Call chains are visited as a tree, from the outermost call inward. A recursive chain
 * adds only once to a row's total: at its outermost call of that row.
 */
#pragma once

#include <sprof/private/command.h>
#include <sprof/profile.h>
#include "base/hash.h"
#include "base/vec.h"
#include "profile/batches.h"
#include "profile/function.h"
#include "profile/state_sums.h"

#define TALLY_NONE UINT32_MAX

struct tally {
	uint32_t group;    /* number of a struct group */
	uint32_t function; /* index of functions; TALLY_NONE: no key of the rows distinguishes code */
	uint64_t self_samples, self_weight, total_samples, total_weight; /* saturating */
	uint32_t open;     /* number of this row's calls on the current path */
};

/* Times of a row by the state of threads. */
struct tally_times {
	struct state_sums self, total;
};

struct tallies {
	bool keys[SP_KEY_LIMIT]; /* keys of the rows */
	VEC(struct tally);
	struct u64map index_of;  /* (group, function) -> index */
	VEC(uint32_t) recent;    /* by function: index + 1 of the row that was found last; 0: none */
	VEC(struct tally_times) times; /* by row; empty without times (tallies_open_times()) */
	struct batches self_batches, total_batches; /* by row; empty if not requested */
	bool failed; /* out of memory: the sums are not complete */
};

/* A zeroed struct is empty, except for `keys`. */
void tallies_deinit(struct tallies *tallies);

/*
 * Returns the row of a group and function (the caller's numbers), added if new. Out of memory:
 * sets `failed`, and returns row 0; tallies_reserve() must have made its room before.
 */
uint32_t tallies_row(struct tallies *tallies, uint32_t group, uint32_t function);

/* Makes room for `count` rows in all; false when out of memory. */
bool tallies_reserve(struct tallies *tallies, size_t count);

/* Enters a call of the row; `samples` and `weight` are those of all chains through it. */
void tallies_open(struct tallies *tallies, uint32_t row, uint64_t samples, uint64_t weight);

/* Adds times to the row as tallies_open() adds the weight; must precede that. */
void tallies_open_times(struct tallies *tallies, uint32_t row, const struct state_sums *times);

/* Leaves the call that tallies_open() entered. */
void tallies_close(struct tallies *tallies, uint32_t row);

/* Adds samples to the row's self weight. */
void tallies_self(struct tallies *tallies, uint32_t row, uint64_t samples, uint64_t weight);

/* Adds times to the row's self times. */
void tallies_self_times(struct tallies *tallies, uint32_t row, const struct state_sums *times);

/* Adds the times of a row of another list to the row `to`. */
void tallies_merge_times(struct tallies *into, uint32_t to, const struct tally_times *from);

/* Adds a row of another list to the row of its function in `group`, and returns that. */
uint32_t tallies_merge(struct tallies *into, uint32_t group, const struct tally *tally);
