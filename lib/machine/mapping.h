/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mappings of an address space, in a balanced tree of which old versions stay
 * as they were: a version is its root. Versions share what they have in common,
 * so a fork costs nothing and a change costs a path. Nodes that the version at
 * hand made itself (same `owner`) are changed in place.
 */
#ifndef MACHINE_MAPPING_H
#define MACHINE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"

struct mapping {
	uint64_t start, end; /* run time addresses, [start, end) */
	uint64_t file_offset; /* file offset of `start` */
	uint32_t module;      /* its index */
	uint32_t pid;         /* process that made it; forks may share it */
	bool fixed;           /* an ip stands for itself: the mapping's place does not matter */
};

struct mapping_node {
	struct mapping mapping;
	struct mapping_node *left, *right;
	uint32_t owner, height;
};

/* The mapping that holds `ip`, or NULL. */
const struct mapping *mapping_find(const struct mapping_node *root, uint64_t ip);

/* Present content of a new mapping's range. */
enum mapping_overlap {
	MAPPING_FREE,    /* nothing */
	MAPPING_SAME,    /* in part, and each ip there means what it will mean */
	MAPPING_COVERED, /* all of it already, with that same meaning */
	MAPPING_REPLACES, /* an ip there means something else */
};

enum mapping_overlap mapping_overlap(const struct mapping_node *root,
				     const struct mapping *mapping);

/*
 * The version of *root with `mapping` (not empty) in it, in place of what it
 * overlaps; what sticks out of it stays. False when out of memory: *root is then
 * good for nothing but being forgotten.
 */
bool mapping_insert(struct arena *arena, struct mapping_node **root, uint32_t owner,
		    const struct mapping *mapping);

#endif
