/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caches of one thread for results by instruction pointer (ip): a map for each view and CPU mode. Views
 * in which all ips of a mode have the same meaning share a map.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "machine/machine.h"

/* An address of code. */
struct code_address {
	uint64_t ip;
	uint32_t view;
	uint16_t cpumode;
	bool caller; /* it is a return address: the code is the call before it */
};

/* A zeroed struct is empty. */
struct ip_maps {
	struct u64map map_of;    /* (view, cpumode, caller) -> index in maps */
	VEC(struct u64map) maps; /* ip -> value of the caller */
	struct { uint64_t key; uint32_t map; bool known; } last[8]; /* recently used entries of map_of */
};

void ip_maps_deinit(struct ip_maps *maps);

/* Slow path of ip_maps_find(). */
struct u64map *ip_maps_look(struct ip_maps *maps, const struct machine *machine, uint32_t view,
			    uint16_t cpumode, bool caller);

static inline uint64_t ip_maps_key(uint32_t view, uint16_t cpumode, bool caller)
{
	return (uint64_t)view << 8 | (uint64_t)cpumode << 1 | caller;
}

static inline unsigned int ip_maps_slot(uint16_t cpumode, bool caller)
{
	return (cpumode & 3u) << 1 | caller;
}

/*
 * Returns the map of ips in a view and mode; return addresses (`caller`) have a map of their own. Valid
 * until the next call; NULL when out of memory. The machine must always be the same one, and sealed.
 */
static inline struct u64map *ip_maps_find(struct ip_maps *maps, const struct machine *machine,
					  uint32_t view, uint16_t cpumode, bool caller)
{
	unsigned int slot = ip_maps_slot(cpumode, caller);
	if (__builtin_expect(maps->last[slot].known &&
			     maps->last[slot].key == ip_maps_key(view, cpumode, caller), 1))
		return &maps->maps.items[maps->last[slot].map];
	return ip_maps_look(maps, machine, view, cpumode, caller);
}
