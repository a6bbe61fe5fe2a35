/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Aggregation of counts: the distinct places of the targets, ascending. */
#ifndef COUNT_STAT_PLACES_H
#define COUNT_STAT_PLACES_H

#include <sprof/stat.h>
#include "base/arena.h"
#include "base/vec.h"

/* Zeroed: empty. */
struct stat_places {
	VEC(struct sp_stat_place);
};

void stat_places_deinit(struct stat_places *places);

/* No place in particular: -1 everywhere. */
struct sp_stat_place place_nowhere(void);

/*
 * Places of the CPUs, which are ascending; each CPU's index goes to place_of[], which has as many
 * entries. Machines that do not say have one socket, die, cluster and node. Fails only when
 * out of memory.
 */
struct sp_error *stat_places_of_cpus(struct stat_places *places, const struct sp_ctx *ctx,
				enum sp_stat_aggregate aggregate, uint32_t cache_level,
				const uint32_t *cpus, size_t cpu_count,
				uint32_t *place_of) SP_MUST_CHECK;

#endif
