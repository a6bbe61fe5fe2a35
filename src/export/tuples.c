/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/tuples.h"

#include <stdlib.h>
#include <string.h>

void tuples_deinit(struct tuples *tuples)
{
	free(tuples->list.items);
	free(tuples->slots);
	*tuples = (struct tuples){0};
}

static uint64_t hash(const struct tuple *tuple)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < TUPLE_WORDS; i++) {
		sum = (sum ^ tuple->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* Returns the slot of an equal tuple, or the empty slot for it. */
static size_t slot_of(const struct tuples *tuples, const struct tuple *tuple)
{
	size_t mask = tuples->slot_count - 1, slot = hash(tuple) & mask;
	while (tuples->slots[slot] &&
	       memcmp(&tuples->list.items[tuples->slots[slot] - 1], tuple, sizeof(*tuple)) != 0)
		slot = (slot + 1) & mask;
	return slot;
}

/* Doubles the hash table. Returns false when out of memory. */
static bool grow(struct tuples *tuples)
{
	size_t count = tuples->slot_count ? 2 * tuples->slot_count : 64;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(tuples->slots);
	tuples->slots = slots;
	tuples->slot_count = count;
	for (size_t i = 0; i < tuples->list.count; i++)
		slots[slot_of(tuples, &tuples->list.items[i])] = (uint32_t)i + 1;
	return true;
}

uint32_t tuples_add(struct tuples *tuples, struct tuple tuple)
{
	if (2 * (tuples->list.count + 1) > tuples->slot_count && !grow(tuples))
		return UINT32_MAX;
	size_t slot = slot_of(tuples, &tuple);
	if (tuples->slots[slot])
		return tuples->slots[slot] - 1;
	struct tuple *added = tuples->list.count < UINT32_MAX - 1 ? list_push(&tuples->list) : NULL;
	if (!added)
		return UINT32_MAX;
	*added = tuple;
	tuples->slots[slot] = (uint32_t)tuples->list.count;
	return (uint32_t)tuples->list.count - 1;
}
