/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths, from which a call tree is made: from its root to each sample, with their sums. */
#ifndef PROFILE_PATHS_H
#define PROFILE_PATHS_H

#include "profile/cycles.h"
#include "profile/radix.h"

/*
 * The words of a way are indexes of functions; with one of these, of texts: a command, or
 * why calls are missing here.
 */
#define PATHS_COMM ((uint64_t)1 << 32)
#define PATHS_CUT ((uint64_t)1 << 33)
#define PATHS_TEXT (PATHS_COMM | PATHS_CUT)

struct path_sums {
	uint64_t samples, weight; /* paths that end here; saturating */
};

struct paths {
	struct radix radix;            /* the root is node 0 */
	VEC(struct path_sums) sums;    /* by node */
	VEC(struct cycle) cycles;      /* by word of the tree, as far as any were marked */
	VEC(uint64_t) words;           /* the way last added */
	struct radix_path path;        /* and its nodes */
};

/* A zeroed struct paths is empty. */
void paths_deinit(struct paths *paths);

/* Adds samples at the end of a way, which may be empty; false when out of memory. */
bool paths_add(struct paths *paths, const uint64_t *words, size_t count, uint64_t samples,
	       uint64_t weight);

/*
 * Marks a word of the way last added as where rounds begin. Of several marks, the one with
 * most rounds stays. False when out of memory.
 */
bool paths_mark(struct paths *paths, size_t at, struct cycle cycle);

/* The cycle marked at that word of the tree. */
static inline struct cycle paths_cycle(const struct paths *paths, size_t word)
{
	return word < paths->cycles.count ? paths->cycles.items[word] : (struct cycle){0};
}

#endif
