/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mappings of an address space, in a persistent balanced tree: old versions stay unchanged. A
 * version is its root. Versions share subtrees, so that a fork costs nothing and a change costs one
 * path. Nodes made by the current version itself (same `owner`) are changed in place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"

struct mapping {
	uint64_t start, end; /* addresses in memory, [start, end) */
	uint64_t file_offset; /* file offset of `start` */
	uint32_t module;      /* index of its module */
	uint32_t pid;         /* process that made it; forks may share it */
	bool fixed;           /* an ip is its own offset: the place of the mapping does not matter */
	bool is_program;      /* code of the program that the process executes */
};

struct mapping_node {
	struct mapping mapping;
	struct mapping_node *left, *right;
	uint32_t owner, height;
};

/* Returns the mapping that contains `ip`, or NULL. */
const struct mapping *mapping_find(const struct mapping_node *root, uint64_t ip);

/* Returns the first mapping of the program's code in [start, end), or NULL. */
const struct mapping *mapping_find_program(const struct mapping_node *root, uint64_t start,
					   uint64_t end);

/* Previous content of a new mapping's range. */
enum mapping_overlap {
	MAPPING_FREE,    /* nothing */
	MAPPING_SAME,    /* a part is mapped, and each ip there keeps its meaning */
	MAPPING_COVERED, /* all is mapped, and each ip keeps its meaning */
	MAPPING_REPLACES, /* some ip there had another meaning */
};

enum mapping_overlap mapping_overlap(const struct mapping_node *root,
				     const struct mapping *mapping);

/*
 * Inserts `mapping` (not empty) into a new version of *root. It replaces the overlapped parts of other
 * mappings; the rest of them stays. Returns false when out of memory: *root may then only be freed.
 */
bool mapping_insert(struct arena *arena, struct mapping_node **root, uint32_t owner,
		    const struct mapping *mapping);
