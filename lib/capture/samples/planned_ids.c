/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/planned_ids.h"

#include "record/types.h"

void planned_ids_deinit(struct planned_ids *ids)
{
	u64map_deinit(&ids->map);
}

/*
 * Returns whether the event counts occurrences. Clocks have a timer for each event, and dummies
 * have no samples.
 */
static bool counts_occurrences(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && !record_is_clock(attr->type, attr->config) &&
	       attr->config != PERF_COUNT_SW_DUMMY && attr->config != PERF_COUNT_SW_BPF_OUTPUT;
}

struct sp_error *planned_ids_add(struct planned_ids *ids, const struct sp_event *event)
{
	for (size_t i = 0; i < event->id_count; i++)
		NEED(u64map_put(&ids->map, event->ids[i], 0, NULL));
	if (!event->id_count || !counts_occurrences(&event->attr))
		return NULL;
	ids->occurrence = ids->occurrences++ ? 0 : event->ids[0];
	return NULL;
}
