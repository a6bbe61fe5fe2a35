/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From interned call chains to the rows and the tree of a struct sp_profile. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <sprof/analysis.h>
#include "base/arena.h"
#include "profile/function.h"
#include "profile/interval.h"
#include "profile/stacks.h"

/* Whose samples a root's are. What nothing asked for is NULL or 0. */
struct group {
	const char *comm; /* equal names are equal pointers */
	int32_t pid, tid, cpu;
};

/* One event's samples, and what is wanted of them. */
struct profile_source {
	const struct stacks *stacks;       /* roots are groups, other nodes functions */
	const struct group *groups;        /* by a root's id */
	const struct functions *functions; /* by a node's id */
	const char *event;
	bool keys[SP_KEY_COUNT];
	bool children;
	enum sp_tree_order tree;
	bool tree_comms;
	struct weight_sums whole; /* what shares are shares of */
};

/*
 * The rows, heaviest first; of those of one weight, by name. They belong to the
 * arena, their strings to the functions and groups. False when out of memory.
 */
bool profile_rows(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile);

/* The tree; as the rows. */
bool profile_tree(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile);

#endif
