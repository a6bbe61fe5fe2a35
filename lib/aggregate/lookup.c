/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aggregate/lookup.h"

uint32_t lookup_find(struct lookup *lookup, enum lookup_kind kind, uint32_t view,
		     uint16_t cpumode, uint64_t ip)
{
	struct u64map *map = ip_maps_find(&lookup->maps, lookup->names->machine, view, cpumode,
					  kind == LOOKUP_CALLER);
	if (!map)
		return LOOKUP_FAILED;
	const uint32_t *known = u64map_find(map, ip);
	if (__builtin_expect(known != NULL, 1))
		return *known;
	struct name name;
	if (!names_find(lookup->names, view, cpumode, ip, kind == LOOKUP_CALLER, &name))
		return LOOKUP_FAILED;
	if (name.frame >= UINT32_MAX >> LOOKUP_SHIFT)
		return LOOKUP_FAILED;
	uint32_t answer = name.frame << LOOKUP_SHIFT | (name.outermost ? LOOKUP_OUTERMOST : 0) |
			  (name.shown ? LOOKUP_SHOWN : 0) | (name.pending ? LOOKUP_PENDING : 0) |
			  (name.unmapped ? LOOKUP_UNMAPPED : 0);
	return u64map_put(map, ip, answer, NULL) ? answer : LOOKUP_FAILED;
}
