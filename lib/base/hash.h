/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hash functions, and hash tables without an allocation for each entry. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Returns a map's key for two numbers. */
static inline uint64_t key_of_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Returns the first of the two; a cast to uint32_t, the second. */
static inline uint32_t key_high(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

uint64_t hash_bytes(const void *bytes, size_t size);

/*
 * Allocates zeroed memory for a table, with its pages already mapped; the caller frees it. A page of
 * calloc() that is first read, then written, would be mapped twice; the second time interrupts all CPUs
 * that run the process.
 */
void *table_alloc(size_t count, size_t size);

/* Hash map with open addressing, linear probing, at most 3/4 full. A zeroed map is empty. */
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

/* Makes room for `count` keys in all; false when out of memory, and the map is unchanged. */
bool u64map_reserve(struct u64map *map, size_t count);

/* Returns a pointer to the value, valid until the next put; NULL if the key is absent. */
uint32_t *u64map_find(const struct u64map *map, uint64_t key);

/*
 * Returns a pointer to the value. An absent key is added with `value`; *added (may be NULL) tells which
 * case it was. NULL when out of memory.
 */
uint32_t *u64map_put(struct u64map *map, uint64_t key, uint32_t value, bool *added);

/*
 * Returns the item of a vec (vec.h) with a key; the map has its index. An absent item is added,
 * zeroed. NULL when out of memory.
 */
#define u64map_item(map, key, vec)                                            \
	({                                                                    \
		__typeof__((vec)->items) item_ = NULL;                        \
		const uint32_t next_ = (uint32_t)(vec)->count, *index_ = NULL; \
		if (vec_reserve((vec), (vec)->count + 1))                     \
			index_ = u64map_put((map), (key), next_, NULL);       \
		if (index_)                                                   \
			item_ = &(vec)->items[*index_];                       \
		if (index_ && *index_ == next_) {                             \
			memset(item_, 0, sizeof(*item_));                     \
			(vec)->count++;                                       \
		}                                                             \
		item_;                                                        \
	})

/* Removes the key; false if it was absent. */
bool u64map_remove(struct u64map *map, uint64_t key);

/*
 * Hash index of a caller's array. It returns candidates by hash, and the caller compares the items.
 * A zeroed index is empty.
 *
 *	if (!index_set_reserve(&set))
 *		return out of memory;
 *	struct index_probe probe = index_set_probe(&set, hash);
 *	for (uint32_t i; index_set_next(&set, &probe, &i);)
 *		if (equal(&items[i], wanted))
 *			return i;
 *	... append the item, then:
 *	index_set_add(&set, &probe, index);
 */
struct index_set {
	struct index_slot *slots;
	size_t count, capacity; /* capacity: 0 or a power of two */
};

struct index_slot {
	uint32_t hash;
	uint32_t number; /* index + 1; 0: empty */
};

struct index_probe {
	uint32_t hash;
	size_t at;
};

void index_set_deinit(struct index_set *set);

/* Reserves room for one more item; false when out of memory. */
bool index_set_reserve(struct index_set *set);

/* Begins a search. The set must have room; valid until the next index_set_reserve(). */
static inline struct index_probe index_set_probe(const struct index_set *set, uint64_t hash)
{
	return (struct index_probe){.hash = (uint32_t)hash, .at = hash & (set->capacity - 1)};
}

/* Returns the next candidate's index; false after the last. */
static inline bool index_set_next(const struct index_set *set, struct index_probe *probe,
				  uint32_t *ret)
{
	const struct index_slot *slot;
	while ((slot = &set->slots[probe->at])->number) {
		if (slot->hash == probe->hash) {
			*ret = slot->number - 1;
			probe->at = (probe->at + 1) & (set->capacity - 1);
			return true;
		}
		probe->at = (probe->at + 1) & (set->capacity - 1);
	}
	return false;
}

/* Adds an index. Call it after index_set_next() returned false. */
static inline void index_set_add(struct index_set *set, const struct index_probe *probe,
				 uint32_t index)
{
	set->slots[probe->at] = (struct index_slot){probe->hash, index + 1};
	set->count++;
}
