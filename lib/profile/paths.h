/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call paths, from the root of a call tree to each sample, with weights. The call tree is made from
 * them.
 */
#pragma once

#include "profile/cycles.h"
#include "profile/radix.h"
#include "profile/state_sums.h"

/*
 * A path's words are indexes of functions. With one of these flags a word is an index of texts: a comm,
 * the state of a thread, or the reason why calls are missing there.
 */
#define PATHS_COMM ((uint64_t)1 << 32)
#define PATHS_CUT ((uint64_t)1 << 33)
#define PATHS_STATE ((uint64_t)1 << 34)
#define PATHS_TEXT (PATHS_COMM | PATHS_CUT | PATHS_STATE)

/* Word of a state's text, and its enum time_state. */
#define PATHS_STATE_WORD(state, text) (PATHS_STATE | (uint64_t)(state) << 40 | (text))
#define PATHS_STATE_OF(word) ((enum time_state)((word) >> 40))

struct path_sums {
	uint64_t samples, weight; /* samples with a path that ends here; saturating */
};

struct paths {
	struct radix radix;            /* interned paths; the root is node 0 */
	VEC(struct path_sums) sums;    /* by node */
	VEC(struct state_sums) times;  /* by node; empty without paths_add_times() */
	VEC(struct cycle) cycles;      /* by word of the radix tree; may be shorter */
	VEC(uint64_t) words;           /* the path added last */
	struct radix_path path;        /* nodes of that path */
	bool failed; /* out of memory: paths are missing */
};

/* A zeroed struct paths is empty. */
void paths_deinit(struct paths *paths);

/*
 * Adds samples at the end of a path, which may be empty. Returns the node where it ends, which
 * stays valid. Out of memory: sets `failed`, and returns 0.
 */
uint32_t paths_add(struct paths *paths, const uint64_t *words, size_t count, uint64_t samples,
		   uint64_t weight);

/* Adds times to a node that paths_add() returned. */
void paths_add_times(struct paths *paths, uint32_t node, const struct state_sums *times);

/*
 * Marks a word of the path added last as the beginning of a cycle. Of several marks, the one with
 * the most rounds is kept.
 */
void paths_mark(struct paths *paths, size_t at, struct cycle cycle);

/* Returns the cycle that is marked at a word of the radix tree. */
static inline struct cycle paths_cycle(const struct paths *paths, size_t word)
{
	return word < paths->cycles.count ? paths->cycles.items[word] : (struct cycle){0};
}
