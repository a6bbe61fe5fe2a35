/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/paths.h"

#include <string.h>
#include "profile/interval.h"

void paths_deinit(struct paths *paths)
{
	radix_deinit(&paths->radix);
	vec_deinit(&paths->sums);
	vec_deinit(&paths->times);
	vec_deinit(&paths->cycles);
	vec_deinit(&paths->words);
	vec_deinit(&paths->path);
}

uint32_t paths_add(struct paths *paths, const uint64_t *words, size_t count, uint64_t samples,
		   uint64_t weight)
{
	size_t same = 0;
	uint32_t root = radix_root(&paths->radix, 0), node = RADIX_NONE;
	if (root != RADIX_NONE && vec_reserve(&paths->words, count + 1)) {
		/* It becomes the last path; `same`: words that it shares with the one before. */
		while (same < count && same < paths->words.count &&
		       paths->words.items[same] == words[same])
			same++;
		memcpy(paths->words.items + same, words + same, (count - same) * sizeof(*words));
		paths->words.count = count;
		node = radix_add(&paths->radix, root, words, count, same, &paths->path);
	}
	if (node == RADIX_NONE || !vec_reserve(&paths->sums, paths->radix.count)) {
		paths->failed = true;
		return 0;
	}
	while (paths->sums.count < paths->radix.count)
		*vec_push(&paths->sums) = (struct path_sums){0};
	struct path_sums *sums = &paths->sums.items[node];
	sums->samples = weight_add(sums->samples, samples);
	sums->weight = weight_add(sums->weight, weight);
	return node;
}

void paths_add_times(struct paths *paths, uint32_t node, const struct state_sums *times)
{
	if (paths->failed || !vec_reserve(&paths->times, paths->radix.count)) {
		paths->failed = true;
		return;
	}
	while (paths->times.count < paths->radix.count)
		*vec_push(&paths->times) = (struct state_sums){0};
	state_sums_add(&paths->times.items[node], times);
}

/* The mark is stored by index in the radix tree's words, which stays valid when nodes are split. */
void paths_mark(struct paths *paths, size_t at, struct cycle cycle)
{
	if (paths->failed)
		return;
	const struct radix_step *step = paths->path.items;
	while (step->end <= at)
		step++;
	const struct radix_node *node = &paths->radix.items[step->node];
	size_t word = node->run + node->length - (step->end - at);
	if (!vec_reserve(&paths->cycles, word + 1)) {
		paths->failed = true;
		return;
	}
	while (paths->cycles.count <= word)
		*vec_push(&paths->cycles) = (struct cycle){0};
	struct cycle *known = &paths->cycles.items[word];
	if (cycle_is_more(&cycle, known))
		*known = cycle;
}
