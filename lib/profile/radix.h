/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sequences of words (call chains, the outermost call first), interned: what
 * several have in common at their beginning is kept once. A node is a run of
 * words up to where sequences part or end, so that a chain that is like no other
 * costs one node, however deep.
 */
#ifndef PROFILE_RADIX_H
#define PROFILE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/vec.h"

#define RADIX_NONE UINT32_MAX

struct radix_node {
	uint64_t first;  /* the first word of its run; what names a root */
	uint32_t parent; /* RADIX_NONE: a root, whose run is empty */
	uint32_t run;    /* index in `words` of its run */
	uint32_t length;
};

struct radix {
	VEC(struct radix_node);
	VEC(uint64_t) words;
	uint32_t *slots; /* hash table of index + 1, by (parent, first) */
	size_t slot_count;
};

/* A step of a sequence through a node. */
struct radix_step {
	uint32_t node;
	uint32_t end; /* how much of the sequence lies before the node's end */
};

struct radix_path {
	VEC(struct radix_step);
};

/* A zeroed struct radix is empty. */
void radix_deinit(struct radix *radix);

/* The root of that name; RADIX_NONE when out of memory. */
uint32_t radix_root(struct radix *radix, uint64_t name);

/*
 * The node where the sequence ends, made as needed; RADIX_NONE when out of memory.
 * `path` is that of the sequence last added under this root, with which the new
 * one has its first `common` words in common (0, with an empty path, if there is
 * none), and becomes the path of this one.
 */
uint32_t radix_add(struct radix *radix, uint32_t root, const uint64_t *words, size_t count,
		   size_t common, struct radix_path *path);

/*
 * All nodes, each behind its parent, and all below a node right behind it. The
 * caller's to free; NULL when out of memory.
 */
uint32_t *radix_order(const struct radix *radix);

#endif
