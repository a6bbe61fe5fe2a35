/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hash functions, and a map from u64 to u32 that needs no allocation per entry. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_u64(uint64_t x)
{
	/* Stafford's mix 13 of the splitmix64 finalizer. */
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9;
	x ^= x >> 27;
	x *= 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a * 0x9e3779b97f4a7c15 ^ b);
}

uint64_t hash_bytes(const void *bytes, size_t size);

/* Open addressing, linear probing, at most 3/4 full. A zeroed one is empty. */
struct u64map {
	struct u64map_entry *entries;
	size_t count, capacity; /* capacity: 0 or a power of two */
};

struct u64map_entry {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

void u64map_deinit(struct u64map *map);

/* The value's place, valid until the next put; NULL if the key is absent. */
uint32_t *u64map_find(const struct u64map *map, uint64_t key);

/*
 * The value's place, made (with `value`) if the key was absent; *added says
 * which, where added is not NULL. NULL when out of memory.
 */
uint32_t *u64map_put(struct u64map *map, uint64_t key, uint32_t value, bool *added);

/* Takes the key out; false if it was absent. */
bool u64map_remove(struct u64map *map, uint64_t key);

#endif
