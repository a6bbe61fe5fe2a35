/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	uint64_t hash = size * 0x9e3779b97f4a7c15;
	for (; size >= 8; p += 8, size -= 8) {
		uint64_t word;
		memcpy(&word, p, 8);
		hash = hash_u64(hash ^ word);
	}
	if (size) {
		uint64_t word = 0;
		memcpy(&word, p, size);
		hash = hash_u64(hash ^ word);
	}
	return hash;
}

void u64map_deinit(struct u64map *map)
{
	free(map->entries);
	*map = (struct u64map){0};
}

/* Returns the entry of `key`, or the empty entry where it would be inserted. */
static inline struct u64map_entry *probe(const struct u64map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;
	size_t i = hash_u64(key) & mask;
	while (map->entries[i].used && map->entries[i].key != key)
		i = (i + 1) & mask;
	return &map->entries[i];
}

uint32_t *u64map_find(const struct u64map *map, uint64_t key)
{
	if (!map->capacity)
		return NULL;
	struct u64map_entry *entry = probe(map, key);
	return entry->used ? &entry->value : NULL;
}

void *table_alloc(size_t count, size_t size)
{
	/* Sizes are powers of two, so they are multiples of any smaller alignment. */
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	void *table = aligned_alloc(16, (bytes + 15) & ~(size_t)15);
	return table ? memset(table, 0, bytes) : NULL;
}

bool u64map_reserve(struct u64map *map, size_t count)
{
	size_t capacity = map->capacity ?: 16;
	while (capacity * 3 < count * 4)
		capacity *= 2;
	if (capacity == map->capacity)
		return true;
	struct u64map_entry *entries = table_alloc(capacity, sizeof(*entries));
	if (!entries)
		return false;
	/* All keys differ, so only empty entries are searched. */
	for (size_t old = 0; old < map->capacity; old++) {
		const struct u64map_entry *from = &map->entries[old];
		size_t i = hash_u64(from->key) & (capacity - 1);
		if (!from->used)
			continue;
		while (entries[i].used)
			i = (i + 1) & (capacity - 1);
		entries[i] = *from;
	}
	free(map->entries);
	map->entries = entries;
	map->capacity = capacity;
	return true;
}

uint32_t *u64map_put(struct u64map *map, uint64_t key, uint32_t value, bool *added)
{
	if ((map->count + 1) * 4 > map->capacity * 3 && !u64map_reserve(map, map->count + 1))
		return NULL;
	struct u64map_entry *entry = probe(map, key);
	if (added)
		*added = !entry->used;
	if (!entry->used) {
		*entry = (struct u64map_entry){.key = key, .value = value, .used = 1};
		map->count++;
	}
	return &entry->value;
}

bool u64map_remove(struct u64map *map, uint64_t key)
{
	if (!map->capacity)
		return false;
	struct u64map_entry *entry = probe(map, key);
	if (!entry->used)
		return false;
	/* Close the gap: move back each later entry if its probe sequence passed it. */
	size_t mask = map->capacity - 1, hole = entry - map->entries;
	for (size_t i = (hole + 1) & mask; map->entries[i].used; i = (i + 1) & mask) {
		size_t home = hash_u64(map->entries[i].key) & mask;
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->entries[hole] = map->entries[i];
			hole = i;
		}
	}
	map->entries[hole].used = 0;
	map->count--;
	return true;
}

void index_set_deinit(struct index_set *set)
{
	free(set->slots);
	*set = (struct index_set){0};
}

bool index_set_reserve(struct index_set *set)
{
	if ((set->count + 1) * 4 <= set->capacity * 3)
		return true;
	struct index_set grown = {.count = set->count,
				  .capacity = set->capacity ? set->capacity * 2 : 64};
	grown.slots = table_alloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < set->capacity; i++) {
		if (!set->slots[i].number)
			continue;
		size_t at = set->slots[i].hash & (grown.capacity - 1);
		while (grown.slots[at].number)
			at = (at + 1) & (grown.capacity - 1);
		grown.slots[at] = set->slots[i];
	}
	free(set->slots);
	*set = grown;
	return true;
}
