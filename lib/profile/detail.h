/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interned values of the keys that rows are made by, other than those in group.h and function.h. A
 * detail is a numbered tuple of words, one word for each such key. The code that adds details defines
 * their meaning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

/* The sample has no value for the key. */
#define DETAIL_NONE UINT64_MAX

struct details {
	size_t width;       /* words in each detail; set before the first is added */
	uint32_t count;
	VEC(uint64_t) words;
	struct index_set index_of;
	bool failed; /* out of memory: details are missing */
};

/* A zeroed struct is empty, except for `width`. */
void details_deinit(struct details *details);

/*
 * Returns the number of a tuple of `width` words, added if new. Out of memory: sets `failed`, and
 * returns 0.
 */
uint32_t details_add(struct details *details, const uint64_t *words);

/* Returns a detail's words. Valid until the next is added. */
static inline const uint64_t *details_words(const struct details *details, uint32_t index)
{
	return details->words.items + (size_t)index * details->width;
}
