/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/detail.h"

#include <string.h>

void details_deinit(struct details *details)
{
	vec_deinit(&details->words);
	index_set_deinit(&details->index_of);
}

uint32_t details_add(struct details *details, const uint64_t *words)
{
	size_t width = details->width;
	uint64_t hash = width;
	for (size_t i = 0; i < width; i++)
		hash = hash_pair(hash, words[i]);
	if (details->count == UINT32_MAX || !index_set_reserve(&details->index_of) ||
	    !vec_reserve(&details->words, details->words.count + width)) {
		details->failed = true;
		return 0;
	}
	struct index_probe probe = index_set_probe(&details->index_of, hash);
	for (uint32_t i; index_set_next(&details->index_of, &probe, &i);)
		if (!width || !memcmp(details_words(details, i), words, width * sizeof(*words)))
			return i;
	if (width)
		memcpy(details->words.items + details->words.count, words, width * sizeof(*words));
	details->words.count += width;
	index_set_add(&details->index_of, &probe, details->count);
	return details->count++;
}
