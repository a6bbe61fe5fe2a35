/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/function_identity.h"

#include <string.h>

void identities_deinit(struct identities *identities)
{
	vec_deinit(identities);
	u64map_deinit(&identities->by_file);
	u64map_deinit(&identities->by_start);
}

static uint64_t hash_of(const struct piece *piece, uint64_t what)
{
	return hash_pair(hash_pair((uintptr_t)piece->dso, (uintptr_t)piece->name), what);
}

static uint32_t root_of(struct identities *identities, uint32_t index)
{
	struct identity *items = identities->items;
	while (items[index].parent != index) {
		items[index].parent = items[items[index].parent].parent;
		index = items[index].parent;
	}
	return index;
}

/*
 * Returns the index of the function that has this key. A new key gets a new function. Returns
 * UINT32_MAX when out of memory.
 */
static uint32_t body_at(struct identities *identities, struct u64map *map, uint64_t key)
{
	bool added;
	if (!vec_reserve(identities, identities->count + 1))
		return UINT32_MAX;
	uint32_t *index = u64map_put(map, key, (uint32_t)identities->count, &added);
	if (!index)
		return UINT32_MAX;
	if (added)
		*vec_push(identities) = (struct identity){.parent = *index, .start = UINT64_MAX};
	return root_of(identities, *index);
}

static uint32_t join(struct identities *identities, uint32_t a, uint32_t b)
{
	struct identity *into = &identities->items[a], *from = &identities->items[b];
	if (a == b)
		return a;
	from->parent = a;
	if (from->start < into->start)
		into->start = from->start;
	if (!into->home || (from->home && strcmp(from->home, into->home) < 0))
		into->home = from->home;
	return a;
}

uint32_t identities_add(struct identities *identities, const struct piece *piece)
{
	uint32_t index = UINT32_MAX;
	if (piece->file) {
		index = body_at(identities, &identities->by_file, hash_of(piece, (uintptr_t)piece->file));
		if (index == UINT32_MAX)
			return UINT32_MAX;
	}
	if (piece->start != UINT64_MAX || !piece->file) {
		uint32_t other = body_at(identities, &identities->by_start, hash_of(piece, piece->start));
		if (other == UINT32_MAX)
			return UINT32_MAX;
		index = index == UINT32_MAX ? other : join(identities, index, other);
	}
	struct identity *identity = &identities->items[index];
	if (piece->start < identity->start)
		identity->start = piece->start;
	if (piece->file && (!identity->home || strcmp(piece->file, identity->home) < 0))
		identity->home = piece->file;
	return index;
}

const struct identity *identities_find(struct identities *identities, uint32_t index)
{
	return &identities->items[root_of(identities, index)];
}
