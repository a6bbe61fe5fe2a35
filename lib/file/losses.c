/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file/losses.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/vec.h"
#include "file/reader.h"
#include "record/types.h"

/* perf's mark on LOST_SAMPLES that a BPF filter left out on purpose. */
#define MISC_LOST_SAMPLES_BPF (1 << 15)

struct event_losses {
	uint64_t ring;     /* LOST: records of any kind that found no room */
	uint64_t hardware; /* LOST_SAMPLES of a moment: lost before the ring, or taken and not written */
	uint64_t counted;  /* LOST_SAMPLES by perf at the end: the kernel's count of samples */
	uint64_t read;     /* the same count, from READ */
};

struct sp_losses {
	const struct record_layout *layout;
	struct u64map event_of_id;
	struct event_losses *events; /* as many as the layout has, and one */
	struct u64map read_index;    /* event id -> index in read_lost */
	VEC(uint64_t) read_lost;
	bool counted;                /* of any event */
};

DEFINE_CLEANUP(struct sp_losses *, sp_losses_free)

struct sp_error *sp_losses_new(const struct sp_reader *reader, struct sp_losses **ret)
{
	CLEANUP(cleanup_sp_losses_free) struct sp_losses *losses = calloc(1, sizeof(*losses));
	if (!losses)
		return error_no_memory();
	const struct record_layout *layout = reader_layout(reader);
	losses->layout = layout;
	losses->events = calloc(layout->event_count + 1, sizeof(*losses->events));
	if (!losses->events)
		return error_no_memory();
	for (size_t i = 0; i < layout->event_count; i++)
		for (size_t j = 0; j < layout->events[i].id_count; j++)
			if (!u64map_put(&losses->event_of_id, layout->events[i].ids[j],
					(uint32_t)i, NULL))
				return error_no_memory();
	*ret = take_ptr(losses);
	return NULL;
}

void sp_losses_free(struct sp_losses *losses)
{
	if (!losses)
		return;
	u64map_deinit(&losses->event_of_id);
	free(losses->events);
	u64map_deinit(&losses->read_index);
	vec_deinit(&losses->read_lost);
	free(losses);
}

uint16_t losses_event_of_id(const struct sp_losses *losses, uint64_t id)
{
	const uint32_t *event = u64map_find(&losses->event_of_id, id);
	return event ? (uint16_t)*event : SP_EVENT_NONE;
}

uint16_t losses_event(const struct sp_losses *losses, const struct sp_record *record, uint64_t id)
{
	uint16_t event = record->event != SP_EVENT_NONE ? record->event
							: losses_event_of_id(losses, id);
	return event != SP_EVENT_NONE ? event : 0;
}

uint16_t losses_event_of_counter(const struct sp_losses *losses, const struct sp_record *record,
				 uint64_t id)
{
	uint16_t event = losses_event_of_id(losses, id);
	return event != SP_EVENT_NONE ? event : losses_event(losses, record, id);
}

bool losses_is_moment(const struct sp_record *record)
{
	/* perf writes its count at the end, with no time. */
	return record->type == PERF_RECORD_LOST ||
	       (record->type == PERF_RECORD_LOST_SAMPLES && record->id.time_ns &&
		!(record->misc & MISC_LOST_SAMPLES_BPF));
}

static void add_lost(struct sp_losses *losses, const struct sp_record *record)
{
	bool ring = record->type == PERF_RECORD_LOST;
	uint64_t id = ring ? record->lost.id : record->id.id;
	struct event_losses *event = &losses->events[losses_event(losses, record, id)];
	if (!losses_is_moment(record)) {
		event->counted += record->lost.lost;
		losses->counted = true; /* of other events, too: none, if nothing says so */
	} else if (ring) {
		event->ring += record->lost.lost;
	} else {
		event->hardware += record->lost.lost;
	}
}

/* The kernel's count of lost samples only grows: the last is the greatest. */
static bool add_read(struct sp_losses *losses, const struct sp_record *record, uint64_t id,
		     uint64_t lost)
{
	bool added;
	if (!lost)
		return true;
	if (!vec_reserve(&losses->read_lost, losses->read_lost.count + 1))
		return false;
	const uint32_t *index = u64map_put(&losses->read_index, id,
					   (uint32_t)losses->read_lost.count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(&losses->read_lost) = 0;
	uint64_t *known = &losses->read_lost.items[*index];
	if (lost > *known) {
		losses->events[losses_event_of_counter(losses, record, id)].read += lost - *known;
		*known = lost;
	}
	return true;
}

struct sp_error *sp_losses_add(struct sp_losses *losses, const struct sp_record *record)
{
	const struct sp_counters *counters = &record->read.counters;
	bool done = true;
	switch (record->type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		if (record->type == PERF_RECORD_LOST || !(record->misc & MISC_LOST_SAMPLES_BPF))
			add_lost(losses, record);
		break;
	case PERF_RECORD_READ:
		for (size_t i = 0; i < counters->count && done; i++) {
			const struct sp_counter *counter = &counters->values[i];
			bool has_id = counters->read_format & PERF_FORMAT_ID;
			done = add_read(losses, record, has_id ? counter->id : record->id.id,
					counter->lost);
		}
		break;
	default:
		break;
	}
	return done ? NULL : error_no_memory();
}

uint64_t losses_outside_rings(const struct sp_losses *losses, size_t event)
{
	return losses->events[event].hardware;
}

/*
 * The kernel's own count, written at the end, is the best; LOST counts records of all
 * kinds, but is there even if the recorder was killed. What the hardware lost is in
 * neither.
 */
uint64_t sp_losses_count(const struct sp_losses *losses, size_t event)
{
	const struct event_losses *of = &losses->events[event];
	uint64_t ring = of->ring > of->read ? of->ring : of->read;
	return of->hardware + (losses->counted ? of->counted : ring);
}
