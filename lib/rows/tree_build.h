/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes the paths of call trees from resolved chains. */
#pragma once

#include "rows/merged_event.h"
#include "rows/resolve_chains.h"

/* Returns the number of paths that a leaf may have: one for each part. */
static inline size_t trees_paths_per_leaf(const struct weigher *weigher)
{
	return weigher->parts_max ?: 1;
}

/*
 * Adds the chains of one worker to the call trees of their events; `events` has one item for each
 * event of the recording, and `strings` gets texts. Sets
 * nodes_ret[leaf * trees_paths_per_leaf() + part] to the node where this path of the leaf ends, for
 * leaves with samples; NULL: not requested. Returns false when out of memory.
 */
bool trees_build(struct strtab *strings, struct merged_event *const *events,
		 const struct resolved *resolved, uint32_t *nodes_ret);
