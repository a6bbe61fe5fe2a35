/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/event_control/lost_counts.h"

#include <stdlib.h>

void losses_deinit(struct losses *losses)
{
	free(losses->of_events);
	*losses = (struct losses){0};
}

static struct sp_error *add_record(const struct sp_event *event, uint64_t lost, struct record_buffer *records)
{
	const struct sp_record record = {
		.type = PERF_RECORD_LOST_SAMPLES,
		.id.id = event->id_count ? event->ids[0] : 0,
		.lost.lost = lost,
	};
	return record_encode(records, &record, &event->attr);
}

struct sp_error *losses_end_file(struct losses *losses, const struct loss_counts *counts,
				 struct record_buffer *records)
{
	uint64_t reported = counts->reported - losses->reported, samples = 0, all = 0;
	struct sp_error *error = NULL;
	losses->reported = counts->reported;
	losses->unreported = 0;
	if (!counts->of_events)
		return NULL;
	if (!losses->of_events)
		losses->of_events = calloc(counts->count, sizeof(*losses->of_events));
	NEED(losses->of_events);
	for (size_t i = 0; i < counts->count && !error; i++) {
		const struct sp_event *event = &counts->events[i];
		uint64_t lost = counts->of_events[i] - losses->of_events[i];
		losses->of_events[i] = counts->of_events[i];
		all += lost;
		samples += event->attr.context_switch ? 0 : lost; /* lost SWITCH records are no samples */
		/* Zeros are written, too, if LOST records report losses: they correct these. */
		if (lost || reported)
			error = add_record(event, lost, records);
	}
	losses->unreported = all > reported ? all - reported : 0;
	losses->at_end += samples > reported ? samples - reported : 0;
	losses->not_counting += samples < reported ? reported - samples : 0;
	return error;
}
