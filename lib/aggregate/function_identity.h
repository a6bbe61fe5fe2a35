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
	uint32_t parent;  /* towards the one that stands for all */
	const char *home; /* the first of its files by alphabet; NULL: none is known */
	uint64_t start;   /* the lowest place where one has its code; UINT64_MAX: always inlined */
};

struct identities {
	VEC(struct identity);
	struct u64map by_file, by_start; /* hash of dso, name and that -> index */
};

/* A piece; strings are interned, and file may be NULL. */
struct piece {
	const char *dso, *name, *file;
	uint64_t start; /* begin of its code; UINT64_MAX: inlined */
};

/* A zeroed struct identities is empty. */
void identities_deinit(struct identities *identities);

/* The piece's index, for identities_find(); UINT32_MAX when out of memory. */
uint32_t identities_add(struct identities *identities, const struct piece *piece);

/* The one that a piece is of, once all have been added. Valid until the next is added. */
const struct identity *identities_find(struct identities *identities, uint32_t index);

#endif
