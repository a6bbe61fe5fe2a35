/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call chains, interned as nodes of trees: a node is its parent and what was
 * called from there. All tables and trees are views of it. A parent's index is
 * below its children's, so that a scan from the end sums up.
 */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

#define STACK_NONE UINT32_MAX

struct stack_node {
	uint32_t parent; /* STACK_NONE: a root */
	uint32_t id;     /* of a root: the group's index; else the function's or frame's */
	uint32_t recent; /* the child asked for last; STACK_NONE: there is none */
	uint32_t forked; /* whether there are more children, found by `children` */
	uint64_t samples, weight; /* of chains that end here; saturating */
};

/*
 * A chain asks for the same calls as the one before, mostly, and most calls have
 * one callee: a node knows its last child, and only nodes with several are in the
 * map. A new path's nodes lie side by side, so following it misses few cache lines.
 */
struct stacks {
	VEC(struct stack_node);
	struct u64map children; /* (parent, id) -> index, of roots and of forked nodes' children */
};

/* A zeroed struct stacks is empty. */
void stacks_deinit(struct stacks *stacks);

/* The child `id` of `parent` (STACK_NONE: the root `id`); STACK_NONE when out of memory. */
uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t id);

void stacks_add(struct stacks *stacks, uint32_t node, uint64_t samples, uint64_t weight);

#endif
