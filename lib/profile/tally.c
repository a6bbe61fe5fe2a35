/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/tally.h"

#include <string.h>
#include "profile/interval.h"

void tallies_deinit(struct tallies *tallies)
{
	vec_deinit(tallies);
	u64map_deinit(&tallies->index_of);
	vec_deinit(&tallies->recent);
	vec_deinit(&tallies->times);
	vec_deinit(&tallies->self_batches);
	vec_deinit(&tallies->total_batches);
}

/* Returns a function's element of `recent`; NULL if it has none. */
static uint32_t *recent_of(struct tallies *tallies, uint32_t function)
{
	size_t count = tallies->recent.count;
	if (function < count)
		return &tallies->recent.items[function];
	if (function == TALLY_NONE || !vec_reserve(&tallies->recent, (size_t)function + 1))
		return NULL;
	tallies->recent.count = tallies->recent.capacity;
	memset(tallies->recent.items + count, 0,
	       (tallies->recent.count - count) * sizeof(uint32_t));
	return &tallies->recent.items[function];
}

bool tallies_reserve(struct tallies *tallies, size_t count)
{
	return vec_reserve(tallies, count) && u64map_reserve(&tallies->index_of, count);
}

uint32_t tallies_row(struct tallies *tallies, uint32_t group, uint32_t function)
{
	uint32_t *recent = recent_of(tallies, function);
	if (recent && *recent && tallies->items[*recent - 1].group == group)
		return *recent - 1;
	struct tally *tally =
		u64map_item(&tallies->index_of, key_of_pair(group, function), tallies);
	if (!tally) {
		tallies->failed = true;
		return 0;
	}
	tally->group = group;
	tally->function = function;
	uint32_t row = tally - tallies->items;
	if (recent)
		*recent = row + 1;
	return row;
}

void tallies_open(struct tallies *tallies, uint32_t row, uint64_t samples, uint64_t weight)
{
	struct tally *tally = &tallies->items[row];
	if (tally->open++)
		return;
	tally->total_samples = weight_add(tally->total_samples, samples);
	tally->total_weight = weight_add(tally->total_weight, weight);
}

void tallies_close(struct tallies *tallies, uint32_t row)
{
	tallies->items[row].open--;
}

void tallies_self(struct tallies *tallies, uint32_t row, uint64_t samples, uint64_t weight)
{
	struct tally *tally = &tallies->items[row];
	tally->self_samples = weight_add(tally->self_samples, samples);
	tally->self_weight = weight_add(tally->self_weight, weight);
}

/* Returns a row's times; NULL when out of memory. */
static struct tally_times *times_of(struct tallies *tallies, uint32_t row)
{
	if (!vec_reserve(&tallies->times, (size_t)row + 1)) {
		tallies->failed = true;
		return NULL;
	}
	while (tallies->times.count <= row)
		*vec_push(&tallies->times) = (struct tally_times){0};
	return &tallies->times.items[row];
}

void tallies_open_times(struct tallies *tallies, uint32_t row, const struct state_sums *times)
{
	struct tally_times *of = times_of(tallies, row);
	if (of && !tallies->items[row].open)
		state_sums_add(&of->total, times);
}

void tallies_self_times(struct tallies *tallies, uint32_t row, const struct state_sums *times)
{
	struct tally_times *of = times_of(tallies, row);
	if (of)
		state_sums_add(&of->self, times);
}

void tallies_merge_times(struct tallies *into, uint32_t to, const struct tally_times *from)
{
	struct tally_times *of = times_of(into, to);
	if (!of)
		return;
	state_sums_add(&of->self, &from->self);
	state_sums_add(&of->total, &from->total);
}

uint32_t tallies_merge(struct tallies *into, uint32_t group, const struct tally *from)
{
	uint32_t row = tallies_row(into, group, from->function);
	struct tally *tally = &into->items[row];
	tally->self_samples = weight_add(tally->self_samples, from->self_samples);
	tally->self_weight = weight_add(tally->self_weight, from->self_weight);
	tally->total_samples = weight_add(tally->total_samples, from->total_samples);
	tally->total_weight = weight_add(tally->total_weight, from->total_weight);
	return row;
}
