/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aggregate/function_identity.h"

#include <string.h>

void bodies_deinit(struct bodies *bodies)
{
	vec_deinit(bodies);
	u64map_deinit(&bodies->by_file);
	u64map_deinit(&bodies->by_start);
}

static uint64_t hash_of(const struct piece *piece, uint64_t what)
{
	return hash_pair(hash_pair((uintptr_t)piece->dso, (uintptr_t)piece->name), what);
}

static uint32_t root_of(struct bodies *bodies, uint32_t index)
{
	struct body *items = bodies->items;
	while (items[index].parent != index) {
		items[index].parent = items[items[index].parent].parent;
		index = items[index].parent;
	}
	return index;
}

/* The body under that key, which is new if there was none; UINT32_MAX when out of memory. */
static uint32_t body_at(struct bodies *bodies, struct u64map *map, uint64_t key)
{
	bool added;
	if (!vec_reserve(bodies, bodies->count + 1))
		return UINT32_MAX;
	uint32_t *index = u64map_put(map, key, (uint32_t)bodies->count, &added);
	if (!index)
		return UINT32_MAX;
	if (added)
		*vec_push(bodies) = (struct body){.parent = *index, .start = UINT64_MAX};
	return root_of(bodies, *index);
}

static uint32_t join(struct bodies *bodies, uint32_t a, uint32_t b)
{
	struct body *into = &bodies->items[a], *from = &bodies->items[b];
	if (a == b)
		return a;
	from->parent = a;
	if (from->start < into->start)
		into->start = from->start;
	if (!into->home || (from->home && strcmp(from->home, into->home) < 0))
		into->home = from->home;
	return a;
}

uint32_t bodies_add(struct bodies *bodies, const struct piece *piece)
{
	uint32_t index = UINT32_MAX;
	if (piece->file) {
		index = body_at(bodies, &bodies->by_file, hash_of(piece, (uintptr_t)piece->file));
		if (index == UINT32_MAX)
			return UINT32_MAX;
	}
	if (piece->start != UINT64_MAX || !piece->file) {
		uint32_t other = body_at(bodies, &bodies->by_start, hash_of(piece, piece->start));
		if (other == UINT32_MAX)
			return UINT32_MAX;
		index = index == UINT32_MAX ? other : join(bodies, index, other);
	}
	struct body *body = &bodies->items[index];
	if (piece->start < body->start)
		body->start = piece->start;
	if (piece->file && (!body->home || strcmp(piece->file, body->home) < 0))
		body->home = piece->file;
	return index;
}

const struct body *bodies_body(struct bodies *bodies, uint32_t index)
{
	return &bodies->items[root_of(bodies, index)];
}
