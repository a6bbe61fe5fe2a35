/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids of the planned events, to find samples with another event's id. If several software events count one
 * occurrence, such as a context switch of a thread that two recorders sample, the kernel (6.18) fills the
 * fields of one sample for all: each has the id of the first. The file does not list another recorder's id.
 *
 * The sample belongs to the only planned event that counts occurrences. If there are several, it is unknown
 * to which. All functions belong to one thread.
 */
#pragma once

#include <sprof/reader.h>
#include "base/error.h"
#include "base/hash.h"

/* Zeroed, it is empty. */
struct planned_ids {
	struct u64map map;
	uint64_t occurrence; /* id of the event that counts occurrences; 0: none, or several */
	size_t occurrences;  /* number of such events */
};

void planned_ids_deinit(struct planned_ids *ids);

/* Adds an event's ids. Fails only when out of memory. */
struct sp_error *planned_ids_add(struct planned_ids *ids, const struct sp_event *event) SP_MUST_CHECK;

/* Returns the id in the file of a sample with that id; 0: it is unknown. */
static inline uint64_t planned_ids_find(const struct planned_ids *ids, uint64_t id)
{
	return !ids->occurrences || u64map_find(&ids->map, id) ? id : ids->occurrence;
}
