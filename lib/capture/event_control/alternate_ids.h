/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids of alternate events, which the file does not list: the file has their samples under the id of
 * the planned event that each replaces or completes. Helper events have no samples in the file.
 *
 * The event control adds ids when it opens events; others have a const view. The view stays valid as
 * long as the event control, and its contents change only between rounds, in the session's thread.
 */
#pragma once

#include <stdbool.h>
#include "base/hash.h"
#include "base/vec.h"

/* Zeroed, it is empty. */
struct alternate_ids {
	struct u64map map;                /* by the kernel's id: 0 for a helper, else index in `listed` + 1 */
	struct { VEC(uint64_t); } listed; /* ids of planned events */
	uint64_t first_listed;            /* id of the first planned event */
	struct { VEC(uint64_t); } outside; /* ids of events of wake-ups on whole CPUs, also in `map` */
};

static inline void alternate_ids_deinit(struct alternate_ids *ids)
{
	vec_deinit(&ids->listed);
	vec_deinit(&ids->outside);
	u64map_deinit(&ids->map);
	*ids = (struct alternate_ids){0};
}

/* False: there is no alternate event, so each record has its id in the file. */
static inline bool alternate_ids_any(const struct alternate_ids *ids)
{
	return ids && ids->map.count;
}

/*
 * Returns the file's id for an id in the ring; 0: a helper. Call it only if there are alternates.
 */
static inline uint64_t alternate_ids_find(const struct alternate_ids *ids, uint64_t id)
{
	const uint32_t *place = u64map_find(&ids->map, id);
	if (!place)
		return id;
	return *place ? ids->listed.items[*place - 1] : 0;
}
