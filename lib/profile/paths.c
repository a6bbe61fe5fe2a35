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

/*
 * Stores the path as the last one. *same_ret is the number of leading words that it shares with the
 * previous one.
 */
static bool remember(struct paths *paths, const uint64_t *words, size_t count, size_t *same_ret)
{
	size_t same = 0;
	if (!vec_reserve(&paths->words, count))
		return false;
	while (same < count && same < paths->words.count && paths->words.items[same] == words[same])
		same++;
	memcpy(paths->words.items + same, words + same, (count - same) * sizeof(*words));
	paths->words.count = count;
	*same_ret = same;
	return true;
}

uint32_t paths_add(struct paths *paths, const uint64_t *words, size_t count, uint64_t samples,
		   uint64_t weight)
{
	size_t same;
	uint32_t root = radix_root(&paths->radix, 0);
	if (root == RADIX_NONE || !vec_reserve(&paths->words, count + 1) ||
	    !remember(paths, words, count, &same))
		return RADIX_NONE;
	uint32_t node = radix_add(&paths->radix, root, words, count, same, &paths->path);
	if (node == RADIX_NONE || !vec_reserve(&paths->sums, paths->radix.count))
		return RADIX_NONE;
	while (paths->sums.count < paths->radix.count)
		*vec_push(&paths->sums) = (struct path_sums){0};
	struct path_sums *sums = &paths->sums.items[node];
	sums->samples = weight_add(sums->samples, samples);
	sums->weight = weight_add(sums->weight, weight);
	return node;
}

bool paths_add_times(struct paths *paths, uint32_t node, const struct state_sums *times)
{
	if (!vec_reserve(&paths->times, paths->radix.count))
		return false;
	while (paths->times.count < paths->radix.count)
		*vec_push(&paths->times) = (struct state_sums){0};
	state_sums_add(&paths->times.items[node], times);
	return true;
}

/* The mark is stored by index in the radix tree's words, which stays valid when nodes are split. */
bool paths_mark(struct paths *paths, size_t at, struct cycle cycle)
{
	const struct radix_step *step = paths->path.items;
	while (step->end <= at)
		step++;
	const struct radix_node *node = &paths->radix.items[step->node];
	size_t word = node->run + node->length - (step->end - at);
	if (!vec_reserve(&paths->cycles, word + 1))
		return false;
	while (paths->cycles.count <= word)
		*vec_push(&paths->cycles) = (struct cycle){0};
	struct cycle *known = &paths->cycles.items[word];
	if (cycle_is_more(&cycle, known))
		*known = cycle;
	return true;
}
