/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interns sequences of words (call chains, outermost call first) in a radix tree, so that a common
 * beginning is stored once. A node is a run of words up to a branch or end. A chain without a common
 * beginning costs one node, however deep it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/vec.h"

#define RADIX_NONE UINT32_MAX

struct radix_node {
	uint64_t first;  /* first word of its run; of a root, its name */
	uint32_t parent; /* RADIX_NONE: a root; its run is empty */
	uint32_t run;    /* index of its run in `words` */
	uint32_t length;
};

struct radix {
	VEC(struct radix_node);
	VEC(uint64_t) words;
	uint32_t *slots; /* hash table of index + 1, by (parent, first) */
	size_t slot_count;
};

/* A node on a sequence's path. */
struct radix_step {
	uint32_t node;
	uint32_t end; /* number of the sequence's words up to the node's end */
};

struct radix_path {
	VEC(struct radix_step);
};

/* A zeroed struct radix is empty. */
void radix_deinit(struct radix *radix);

/* Returns the root of that name, added if new; RADIX_NONE when out of memory. */
uint32_t radix_root(struct radix *radix, uint64_t name);

/*
 * Returns the node where the sequence ends, added as needed; RADIX_NONE when out of memory. On
 * entry `path` is the path of the sequence last added under this root, and its first `common` words
 * equal the new ones (0, with an empty path, for the first). On return it is this sequence's path.
 */
uint32_t radix_add(struct radix *radix, uint32_t root, const uint64_t *words, size_t count,
		   size_t common, struct radix_path *path);

/*
 * Returns all nodes in depth-first order, parents first. The caller frees the list; NULL when out of
 * memory.
 */
uint32_t *radix_order(const struct radix *radix);
