/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_bank/rewrite.h"

#include "event/kernel_calls.h"
#include "record/task_change.h"
#include "record/types.h"

/* Offsets: LOST has an id; THROTTLE and UNTHROTTLE time, id, stream id; FORK and EXIT a time. */
enum { LOST_ID = 8, THROTTLE_TIME = 8, THROTTLE_IDS = 16, FORK_TIME = 24 };

void rewrite_deinit(struct rewrite *rewrite)
{
	u64map_deinit(&rewrite->ids);
	vec_deinit(&rewrite->names);
	*rewrite = (struct rewrite){0};
}

struct sp_error *rewrite_rename(struct rewrite *rewrite, uint64_t id, struct rewrite_name name)
{
	NEED(vec_append(&rewrite->names, name));
	return u64map_put(&rewrite->ids, id, rewrite->names.count - 1, NULL) ? NULL
									     : error_no_memory();
}

static void shift(const struct rewrite *rewrite, struct ring *ring, uint64_t position)
{
	ring_put_u64(ring, position, ring_u64(ring, position) + rewrite->shift_ns);
}

/* Replaces an id; returns the name, or NULL if the id stays. */
static const struct rewrite_name *rename_at(const struct rewrite *rewrite, struct ring *ring,
					    uint64_t position)
{
	const uint32_t *index =
		rewrite->names.count ? u64map_find(&rewrite->ids, ring_u64(ring, position)) : NULL;
	const struct rewrite_name *name = index ? &rewrite->names.items[*index] : NULL;
	if (name)
		ring_put_u64(ring, position, name->listed);
	return name;
}

/* PERF_SAMPLE_READ, with an event id in each value. */
static void rename_values(const struct rewrite *rewrite, uint64_t format, struct ring *ring,
			  uint64_t position, uint64_t end)
{
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t times = 8 * ((format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0) +
			      (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0));
	uint64_t each = format & EVENT_FORMAT_LOST ? 24 : 16;
	uint64_t count = 1;
	if (!(format & PERF_FORMAT_ID) || position + 8 > end)
		return;
	if (group)
		count = ring_u64(ring, position);
	/* In a group the times are before all values, else between the only one and its id. */
	position += times + (group ? 16 : 8);
	for (uint64_t i = 0; i < count && position + 8 <= end; i++, position += each) {
		const struct rewrite_name *name = rename_at(rewrite, ring, position);
		uint64_t value_at = position - 8 - (group ? 0 : times);
		if (name)
			ring_put_u64(ring, value_at, ring_u64(ring, value_at) + name->counted);
	}
}

static void rewrite_sample(const struct rewrite *rewrite, const struct record_fields *fields,
			   struct ring *ring, uint64_t position, uint32_t size)
{
	if (size < fields->sample_cpu + 8)
		return;
	shift(rewrite, ring, position + fields->sample_time);
	const struct rewrite_name *name = rename_at(rewrite, ring, position + fields->sample_id);
	if (name && fields->sample_id_again)
		ring_put_u64(ring, position + fields->sample_id_again, name->listed);
	if (name && name->read_format)
		rename_values(rewrite, name->read_format, ring, position + name->read_at,
			      position + size);
}

static void rewrite_body(const struct rewrite *rewrite, struct ring *ring, uint64_t position,
			 uint32_t type)
{
	switch (type) {
	case PERF_RECORD_LOST:
		rename_at(rewrite, ring, position + LOST_ID);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		shift(rewrite, ring, position + THROTTLE_TIME);
		rename_at(rewrite, ring, position + THROTTLE_IDS);
		rename_at(rewrite, ring, position + THROTTLE_IDS + 8);
		break;
	default:
		if (task_change_is_life(type))
			shift(rewrite, ring, position + FORK_TIME);
	}
}

void rewrite_record(const struct rewrite *rewrite, const struct record_fields *fields,
		    struct ring *ring, uint64_t position, uint32_t type, uint32_t size)
{
	if (type == PERF_RECORD_SAMPLE) {
		rewrite_sample(rewrite, fields, ring, position, size);
		return;
	}
	/* The largest of the bodies that are changed is FORK's. */
	if (size < fields->trailer_tid + 8)
		return;
	uint64_t end = position + size;
	shift(rewrite, ring, end - fields->trailer_time);
	rename_at(rewrite, ring, end - fields->trailer_id);
	if (fields->trailer_id_again)
		rename_at(rewrite, ring, end - fields->trailer_id_again);
	rewrite_body(rewrite, ring, position, type);
}

void rewrite_ring(const struct rewrite *rewrite, const struct record_fields *fields, struct ring *ring,
		  uint64_t end)
{
	uint64_t position = ring->tail;
	while (position < end) {
		struct perf_event_header header;
		if (!ring_record(ring, position, end, &header))
			break;
		rewrite_record(rewrite, fields, ring, position, header.type, header.size);
		position += header.size;
	}
}
