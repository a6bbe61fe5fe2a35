/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine/ip_maps.h"

void ip_maps_deinit(struct ip_maps *maps)
{
	u64map_deinit(&maps->map_of);
	for (size_t i = 0; i < maps->maps.count; i++)
		u64map_deinit(&maps->maps.items[i]);
	vec_deinit(&maps->maps);
}

struct u64map *ip_maps_look(struct ip_maps *maps, const struct machine *machine, uint32_t view,
			    uint16_t cpumode, bool caller)
{
	bool added;
	unsigned int slot = ip_maps_slot(cpumode, caller);
	uint32_t lowest = machine_view_of_mode(machine, view, cpumode);
	if (!vec_reserve(&maps->maps, maps->maps.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&maps->map_of, ip_maps_key(lowest, cpumode, caller),
					   (uint32_t)maps->maps.count, &added);
	if (!index)
		return NULL;
	if (added)
		*vec_push(&maps->maps) = (struct u64map){0};
	maps->last[slot].key = ip_maps_key(view, cpumode, caller);
	maps->last[slot].map = *index;
	maps->last[slot].known = true;
	return &maps->maps.items[*index];
}
