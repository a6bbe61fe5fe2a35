/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/address_cache.h"

uint32_t address_cache_make(struct address_cache *cache, const struct code_address *address)
{
	uint32_t made = cache->make(cache->arg, address);
	/* `make` may have added to the maps, which moves them. */
	struct u64map *map = ip_maps_find(&cache->maps, cache->machine, address->view,
					  address->cpumode, address->caller);
	if (!map || made == ADDRESS_CACHE_FAILED || !u64map_put(map, address->ip, made, NULL))
		return ADDRESS_CACHE_FAILED;
	return made;
}
