/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which pieces of code are one function. In debug information, a function has several
 * pieces: its code, its clones and its inlined copies, each with the file of its lines. Pieces are
 * one function if their code begins at the same address, or if they have the same linkage name and
 * their lines are in the same file. Without a linkage name, the source's name and the line of the
 * declaration replace it. So overloads, outlined bodies and static functions of the same name stay
 * apart, but inlined copies join their function.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"
#include "profile/function.h"

/* A piece of a function. Strings are interned; other members than `dso` and `name` may be NULL. */
struct function_piece {
	const char *dso;
	uint64_t code; /* hash of the dso and its build-id: others give addresses another meaning */
	const char *name;   /* without parameters */
	const char *raw;    /* spelled as in the symbol table or the debug information */
	const char *source; /* name in the debug information, which identifies it in `file` */
	const char *file;   /* source file of its lines; NULL: unknown */
	const char *object; /* source file by the symbol table */
	uint64_t start; /* start of the function's code; UINT64_MAX: this piece is inlined */
	uint32_t declared; /* line of the declaration; 0: unknown, or `source` is a linkage name */
};

struct identity {
	uint32_t parent; /* index of another piece of the same function, nearer to the one that
			  * represents it (union-find); itself: it represents the function */
	uint32_t declared;
	const char *dso, *name, *raw, *object;
	const struct named *named; /* set by the caller for a function that represents others */
	const char *home; /* first source file in alphabetical order; NULL: unknown */
	uint64_t start;   /* lowest start address of its code; UINT64_MAX: it is always inlined */
	/*
	 * Distinguishes functions with the same dso and raw name: by their file without folders if
	 * that suffices, else by their address or, without one, by their declaration. 0: there is
	 * only one, so that it stays the same function in another build.
	 */
	uint64_t place;
};

struct identities {
	VEC(struct identity);
	struct u64map by_file, by_start; /* hash of source name and file, or of start -> index */
};

/* A zeroed struct identities is empty. */
void identities_deinit(struct identities *identities);

/* Adds a piece. Returns its index for identities_find(); UINT32_MAX when out of memory. */
uint32_t identities_add(struct identities *identities, const struct function_piece *piece);

/*
 * Sets the places, when all pieces have been added. `several` has a hash for each name that several
 * functions of one recording have, and grows. Returns false when out of memory.
 */
bool identities_place(struct identities *identities, struct u64map *several);

/*
 * Returns the source file that distinguishes a function for people: the symbol table's, with its
 * folders if the debug information has them. NULL: unknown.
 */
const char *identity_file(const struct identity *identity);

/*
 * Returns the function that a piece belongs to, after identities_place(). It shortens the paths of
 * parents: one thread at a time.
 */
const struct identity *identities_find(struct identities *identities, uint32_t index);
