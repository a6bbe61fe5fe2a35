/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine/ip_maps.h"

void ip_maps_deinit(struct ip_maps *maps)
{
	u64map_deinit(&maps->map_of);
	vec_each (map, &maps->maps)
		u64map_deinit(map);
	vec_deinit(&maps->maps);
}

struct u64map *ip_maps_look(struct ip_maps *maps, const struct machine *machine, uint32_t view,
			    uint16_t cpumode, bool caller)
{
	unsigned int slot = ip_maps_slot(cpumode, caller);
	uint32_t lowest = machine_view_of_mode(machine, view, cpumode);
	struct u64map *map =
		u64map_item(&maps->map_of, ip_maps_key(lowest, cpumode, caller), &maps->maps);
	if (!map)
		return NULL;
	maps->last[slot].key = ip_maps_key(view, cpumode, caller);
	maps->last[slot].map = map - maps->maps.items;
	maps->last[slot].known = true;
	return map;
}
