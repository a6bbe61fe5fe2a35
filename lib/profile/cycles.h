/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folds immediately repeated calls (f f f, or f g f g) to one round, so that recursion of any depth
 * gives one path.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest round that is detected, in calls: the cost of the search grows with this length. */
#define CYCLE_CALLS_MAX 64

/* A cycle of calls that begins at a word of a path. */
struct cycle {
	uint32_t calls;  /* length of one round; 0: none begins here */
	uint32_t rounds; /* highest number of repetitions; at least 2 */
	uint32_t last_calls, last_rounds; /* state of cycles_collapse(): the most recent repetition */
};

/* Returns whether `a` has more rounds, or as many rounds and more calls. */
static inline bool cycle_is_more(const struct cycle *a, const struct cycle *b)
{
	return a->rounds != b->rounds ? a->rounds > b->rounds : a->calls > b->calls;
}

/*
 * Collapses in place and returns the number of words left. cycles[i] belongs to words[i]; it has
 * `count` elements.
 */
size_t cycles_collapse(uint64_t *words, size_t count, struct cycle *cycles);
