/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folds what repeats: of calls that come round again right away (f f f, f g f g) one round
 * is kept, so that recursion of any depth is one way.
 */
#ifndef PROFILE_CYCLES_H
#define PROFILE_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer rounds are not looked for: finding them costs as much as they are long. */
#define CYCLE_CALLS_MAX 64

/* A cycle that begins at a word. */
struct cycle {
	uint32_t calls;  /* length of one round; 0: none begins here */
	uint32_t rounds; /* how often it went round at most; at least 2 */
	uint32_t last_calls, last_rounds; /* cycles_collapse()'s own: when it last went round */
};

/* Compare by rounds, then by calls. */
static inline bool cycle_is_more(const struct cycle *a, const struct cycle *b)
{
	return a->rounds != b->rounds ? a->rounds > b->rounds : a->calls > b->calls;
}

/* In place; returns how many words are left. cycles[i] is that of words[i]; there are `count`. */
size_t cycles_collapse(uint64_t *words, size_t count, struct cycle *cycles);

#endif
