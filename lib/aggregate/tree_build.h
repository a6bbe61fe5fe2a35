/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the paths of call trees from resolved chains. */
#ifndef AGGREGATE_TREE_BUILD_H
#define AGGREGATE_TREE_BUILD_H

#include "aggregate/merged_event.h"
#include "aggregate/run.h"

/*
 * Adds the chains of one worker to the call trees of their events; `events` has one item for each event
 * of the recording. Sets nodes_ret[leaf * TIME_STATES + state] to the node where the leaf's path of that
 * enum time_state ends, and without a mode that of state 0, for leaves with weight or samples; NULL: not
 * requested. Returns false when out of memory.
 */
bool trees_build(struct run *run, struct merged_event *const *events, const struct resolved *resolved,
		 uint32_t *nodes_ret);

#endif
