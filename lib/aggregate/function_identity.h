/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of one name that are one function. Debug information has pieces: a function with its
 * code, its clones, its inlined copies, each with the file of its lines. Pieces are one function
 * if their code begins at one place, or their lines are in one file. Static functions of one name
 * thus stay apart, and a function's inlined copies are found even if its lines are from several
 * files.
 */
#ifndef AGGREGATE_FUNCTION_IDENTITY_H
#define AGGREGATE_FUNCTION_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

struct identity {
	uint32_t parent;  /* index of the next piece towards the one that represents the function */
	const char *home; /* the function's first file in alphabetical order; NULL: unknown */
	uint64_t start;   /* lowest start address of the function's code; UINT64_MAX: it is always inlined */
};

struct identities {
	VEC(struct identity);
	struct u64map by_file, by_start; /* hash of dso, name, and file or start -> index */
};

/* A piece of a function. Strings are interned, and `file` may be NULL. */
struct piece {
	const char *dso, *name, *file;
	uint64_t start; /* start address of its code; UINT64_MAX: it is inlined */
};

/* A zeroed struct identities is empty. */
void identities_deinit(struct identities *identities);

/* Adds a piece, and returns its index for identities_find(); UINT32_MAX when out of memory. */
uint32_t identities_add(struct identities *identities, const struct piece *piece);

/* Returns the function of a piece, after all pieces were added. Valid until the next is added. */
const struct identity *identities_find(struct identities *identities, uint32_t index);

#endif
