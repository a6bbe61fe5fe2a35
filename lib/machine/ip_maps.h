/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results of lookups by ip, kept by one thread: a map for each view and mode. Views in which all
 * ips of a mode mean the same share a map.
 */
#ifndef MACHINE_IP_MAPS_H
#define MACHINE_IP_MAPS_H

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

/* Zeroed: empty. */
struct ip_maps {
	struct u64map map_of;    /* (view, cpumode, caller) -> index in maps */
	VEC(struct u64map) maps; /* ip -> what the caller knows it by */
	struct { uint64_t key; uint32_t map; bool known; } last[8]; /* recent entries of map_of */
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
 * The map of ips in a view, of a mode, and of those that calls return to or those where code ran.
 * Valid until the next call; NULL when out of memory. The machine is always the same, and sealed.
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

#endif
