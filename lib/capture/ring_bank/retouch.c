/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_bank/retouch.h"

#include "event/kernel.h"
#include "record/types.h"

/* Offsets: LOST has an id; THROTTLE and UNTHROTTLE time, id, stream id; FORK and EXIT a time. */
enum { LOST_ID = 8, THROTTLE_TIME = 8, THROTTLE_IDS = 16, FORK_TIME = 24 };

void retouch_deinit(struct retouch *retouch)
{
	u64map_deinit(&retouch->ids);
	vec_deinit(&retouch->names);
	*retouch = (struct retouch){0};
}

struct sp_error *retouch_rename(struct retouch *retouch, uint64_t id, struct retouch_name name)
{
	struct retouch_name *slot = vec_push(&retouch->names);
	if (!slot)
		return error_no_memory();
	*slot = name;
	return u64map_put(&retouch->ids, id, (uint32_t)(retouch->names.count - 1), NULL)
		       ? NULL : error_no_memory();
}

static const struct retouch_name *find(const struct retouch *retouch, uint64_t id)
{
	const uint32_t *index = retouch->names.count ? u64map_find(&retouch->ids, id) : NULL;
	return index ? &retouch->names.items[*index] : NULL;
}

static void shift(const struct retouch *retouch, struct ring *ring, uint64_t position)
{
	ring_put_u64(ring, position, ring_u64(ring, position) + retouch->shift_ns);
}

/* What it was, or NULL if it stays what it is. */
static const struct retouch_name *rename_at(const struct retouch *retouch, struct ring *ring,
					    uint64_t position)
{
	const struct retouch_name *name = find(retouch, ring_u64(ring, position));
	if (name)
		ring_put_u64(ring, position, name->listed);
	return name;
}

/* PERF_SAMPLE_READ, of which each value has its event's id. */
static void rename_values(const struct retouch *retouch, uint64_t format, struct ring *ring,
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
		const struct retouch_name *name = rename_at(retouch, ring, position);
		uint64_t value_at = position - 8 - (group ? 0 : times);
		if (name)
			ring_put_u64(ring, value_at, ring_u64(ring, value_at) + name->counted);
	}
}

static void retouch_sample(const struct retouch *retouch, const struct record_fields *fields,
			   struct ring *ring, uint64_t position, uint32_t size)
{
	if (size < fields->sample_period + 8)
		return;
	shift(retouch, ring, position + fields->sample_time);
	const struct retouch_name *name = rename_at(retouch, ring, position + fields->sample_id);
	if (name && fields->sample_id_again)
		ring_put_u64(ring, position + fields->sample_id_again, name->listed);
	if (name && name->read_format)
		rename_values(retouch, name->read_format, ring,
			      position + fields->sample_period + 8, position + size);
}

static void retouch_body(const struct retouch *retouch, struct ring *ring, uint64_t position,
			 uint32_t type)
{
	switch (type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		shift(retouch, ring, position + FORK_TIME);
		break;
	case PERF_RECORD_LOST:
		rename_at(retouch, ring, position + LOST_ID);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		shift(retouch, ring, position + THROTTLE_TIME);
		rename_at(retouch, ring, position + THROTTLE_IDS);
		rename_at(retouch, ring, position + THROTTLE_IDS + 8);
		break;
	default:
		break;
	}
}

void retouch_record(const struct retouch *retouch, const struct record_fields *fields,
		    struct ring *ring, uint64_t position, uint32_t type, uint32_t size)
{
	if (type == PERF_RECORD_SAMPLE) {
		retouch_sample(retouch, fields, ring, position, size);
		return;
	}
	/* The largest of the bodies that are changed is FORK's. */
	if (size < fields->trailer_tid + 8)
		return;
	uint64_t end = position + size;
	shift(retouch, ring, end - fields->trailer_time);
	rename_at(retouch, ring, end - fields->trailer_id);
	if (fields->trailer_id_again)
		rename_at(retouch, ring, end - fields->trailer_id_again);
	retouch_body(retouch, ring, position, type);
}
