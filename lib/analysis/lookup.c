/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/lookup.h"

#include <linux/perf_event.h>

#define likely(x) __builtin_expect(!!(x), 1)

void lookup_deinit(struct lookup *lookup)
{
	u64map_deinit(&lookup->map_of);
	for (size_t i = 0; i < lookup->maps.count; i++)
		u64map_deinit(&lookup->maps.items[i]);
	vec_deinit(&lookup->maps);
}

/* What ips mean in a view for a mode; NULL when out of memory. */
static struct u64map *map_for(struct lookup *lookup, enum lookup_kind kind, uint32_t view,
			      uint16_t cpumode)
{
	bool added;
	uint64_t key = (uint64_t)view << 8 | (uint64_t)cpumode << 2 | kind;
	unsigned int slot = (cpumode == PERF_RECORD_MISC_USER) * 4u + kind;
	if (likely(lookup->last[slot].known && lookup->last[slot].key == key))
		return &lookup->maps.items[lookup->last[slot].map];
	uint32_t lowest = machine_view_of_mode(lookup->names->machine, view, cpumode);
	uint64_t common = (uint64_t)lowest << 8 | (uint64_t)cpumode << 2 | kind;
	if (!vec_reserve(&lookup->maps, lookup->maps.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&lookup->map_of, common, (uint32_t)lookup->maps.count,
					   &added);
	if (!index)
		return NULL;
	if (added)
		*vec_push(&lookup->maps) = (struct u64map){0};
	lookup->last[slot].key = key;
	lookup->last[slot].map = *index;
	lookup->last[slot].known = true;
	return &lookup->maps.items[*index];
}

uint32_t lookup_find(struct lookup *lookup, enum lookup_kind kind, uint32_t view,
		     uint16_t cpumode, uint64_t ip)
{
	struct u64map *map = map_for(lookup, kind, view, cpumode);
	if (!map)
		return LOOKUP_FAILED;
	const uint32_t *known = u64map_find(map, ip);
	if (likely(known))
		return *known;
	struct name name;
	if (!names_find(lookup->names, view, cpumode, ip, kind == LOOKUP_CALLER, &name))
		return LOOKUP_FAILED;
	if (name.frame >= UINT32_MAX >> LOOKUP_SHIFT)
		return LOOKUP_FAILED;
	uint32_t answer = name.frame << LOOKUP_SHIFT | (name.outermost ? LOOKUP_OUTERMOST : 0) |
			  (name.shown ? LOOKUP_SHOWN : 0) | (name.pending ? LOOKUP_PENDING : 0) |
			  (name.nowhere ? LOOKUP_NOWHERE : 0);
	return u64map_put(map, ip, answer, NULL) ? answer : LOOKUP_FAILED;
}
