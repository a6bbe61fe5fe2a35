/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the timelines of an analysis. Workers count cells by task and leaf; these become cells by
 * thread and node of the merged call tree.
 */
#pragma once

#include "rows/merged.h"

/*
 * Lists the threads of a recording, before its workers are added, in order of pid and tid: their
 * order does not depend on how samples were divided among workers. False when out of memory.
 */
bool timeline_begin_recording(struct merged *merged, const struct merged_recording *recording,
			      const struct workers *workers);

/*
 * Adds the cells of worker `index` of a recording to those of the merged events. `nodes` are those
 * of trees_build(). In modes of time, a cell is split by state and scaled as its leaf. False when
 * out of memory.
 */
bool timeline_add_worker(struct merged *merged, const struct merged_recording *recording,
			 const struct workers *workers, size_t index, const uint32_t *nodes);

/* Returns the widest bins of all events' cells, as struct cells has it. */
unsigned int timeline_bin_shift(const struct merged *merged);

/*
 * Ends a recording, after all its workers: places the cells of modes of time, and adds the losses
 * that have a time. False when out of memory.
 */
bool timeline_end_recording(struct merged *merged, const struct merged_recording *recording,
			    const struct workers *workers);

/*
 * Makes an event's timeline after its tree, for sp_analysis_timeline(). `last` has the tree's node
 * for each node of the paths, NULL for those that are left out. Takes the event's cells. False when
 * out of memory.
 */
bool timeline_make(struct merged *merged, size_t event, const struct sp_tree_node *const *last);
