/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the groups of a recording's events. */
#pragma once

#include <sprof/analysis.h>
#include "base/arena.h"
#include "base/vec.h"

struct event_groups {
	VEC(struct sp_group); /* the groups; their rows are not set */
};

/*
 * Finds groups of at least two events: those in the feature GROUP_DESC, or one group of all sampling
 * events, depending on `grouping`. Their names and lists are in the arena. Damaged groups are left out;
 * the reader reports the damage.
 */
struct sp_error *event_groups_find(const struct sp_reader *reader, enum sp_grouping grouping,
				   struct arena *arena, struct event_groups *ret) SP_MUST_CHECK;
void event_groups_deinit(struct event_groups *groups);
