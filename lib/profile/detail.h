/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of samples that rows are made by, beside whose they are (group.h) and the code
 * (function.h): tuples of words, one for each such key, numbered. What a word means is known
 * to who made it.
 */
#ifndef PROFILE_DETAIL_H
#define PROFILE_DETAIL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

/* A sample does not say. */
#define DETAIL_NONE UINT64_MAX

struct details {
	size_t width;       /* words of one; set before the first is added */
	uint32_t count;
	VEC(uint64_t) words;
	struct index_set index_of;
};

/* All zero but `width` is empty. */
void details_deinit(struct details *details);

/* The number of a tuple of `width` words; UINT32_MAX when out of memory. */
uint32_t details_add(struct details *details, const uint64_t *words);

/* Valid until the next is added. */
static inline const uint64_t *details_words(const struct details *details, uint32_t index)
{
	return details->words.items + (size_t)index * details->width;
}

#endif
