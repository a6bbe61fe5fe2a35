/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of a recording's events. */
#ifndef AGGREGATE_EVENT_GROUPS_H
#define AGGREGATE_EVENT_GROUPS_H

#include <sprof/analysis.h>
#include "base/arena.h"
#include "base/vec.h"

struct event_groups {
	VEC(struct sp_group); /* without rows */
};

/*
 * Groups of two events and more, as `grouping` says: of the recording's feature GROUP_DESC, or
 * all that may have samples as one. Names and lists belong to the arena. What is damaged is left
 * out, and is the reader's to say.
 */
struct sp_error *event_groups_find(const struct sp_reader *reader, enum sp_grouping grouping,
				   struct arena *arena, struct event_groups *ret) SP_MUST_CHECK;
void event_groups_deinit(struct event_groups *groups);

#endif
