/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of the call trees, from resolved chains. */
#ifndef AGGREGATE_TREE_BUILD_H
#define AGGREGATE_TREE_BUILD_H

#include "aggregate/merged_event.h"
#include "aggregate/run.h"

/*
 * Adds one worker's chains to the paths of their events; `events` has one for each event of the
 * recording. Sets nodes_ret[leaf] to the node where the leaf's path ends, for leaves with samples; NULL:
 * not requested. False when out of memory.
 */
bool trees_build(struct run *run, struct merged_event *const *events, const struct resolved *resolved,
		 uint32_t *nodes_ret);

#endif
