/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which pieces of code with the same name are one function. In debug information, a function
 * has several pieces: its code, its clones and its inlined copies, each with the file of its lines.
 * Pieces are one function if their code begins at the same address, or if their lines are in the same
 * file. So static functions of the same name stay apart, but inlined copies join their function.
 */
#ifndef FRAMES_FUNCTION_IDENTITY_H
#define FRAMES_FUNCTION_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

struct identity {
	uint32_t parent;  /* index of another piece of the same function, nearer to the one that represents
			   * it (union-find); itself: it represents the function */
	const char *home; /* first source file of the function in alphabetical order; NULL: unknown */
	uint64_t start;   /* lowest start address of the function's code; UINT64_MAX: it is always inlined */
};

struct identities {
	VEC(struct identity);
	struct u64map by_file, by_start; /* hash of dso, name, and file or start -> index */
};

/* A piece of a function. Strings are interned, and `file` may be NULL. */
struct piece {
	const char *dso, *name, *file;
	uint64_t start; /* start address of the function's code; UINT64_MAX: this piece is inlined */
};

/* A zeroed struct identities is empty. */
void identities_deinit(struct identities *identities);

/* Adds a piece. Returns its index for identities_find(); UINT32_MAX when out of memory. */
uint32_t identities_add(struct identities *identities, const struct piece *piece);

/* Returns the function that a piece belongs to. All pieces must have been added. */
const struct identity *identities_find(struct identities *identities, uint32_t index);

#endif
