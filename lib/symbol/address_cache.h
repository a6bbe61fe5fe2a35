/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "machine/ip_maps.h"

/*
 * One thread's cache from addresses to numbers. `make` returns the number of a new address, or
 * ADDRESS_CACHE_FAILED when out of memory.
 */
struct address_cache {
	const struct machine *machine; /* sealed; borrowed */
	uint32_t (*make)(void *arg, const struct code_address *address);
	void *arg;
	struct ip_maps maps;
};

#define ADDRESS_CACHE_FAILED UINT32_MAX

static inline void address_cache_deinit(struct address_cache *cache)
{
	ip_maps_deinit(&cache->maps);
}

/* Slow path of address_cache_find(). */
uint32_t address_cache_make(struct address_cache *cache, const struct code_address *address);

/* Returns the number of an address, or ADDRESS_CACHE_FAILED. */
static inline uint32_t address_cache_find(struct address_cache *cache, struct code_address address)
{
	struct u64map *map = ip_maps_find(&cache->maps, cache->machine, address.view,
					  address.cpumode, address.caller);
	const uint32_t *known = map ? u64map_find(map, address.ip) : NULL;
	if (__builtin_expect(known != NULL, 1))
		return *known;
	return address_cache_make(cache, &address);
}
