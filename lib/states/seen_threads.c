/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "states/seen_threads.h"

#include <string.h>
#include "base/cursor.h"
#include "walk/walker.h"

#define HEADER_BYTES 8
#define FIELD_BYTES 8

void seen_threads_deinit(struct seen_threads *seen)
{
	vec_deinit(&seen->items);
	u64map_deinit(&seen->index_of);
}

/* Returns the offset of the ids in an event's samples; 0: they have none. */
static size_t offset_of(const struct sp_event *event)
{
	uint64_t type = event->attr.sample_type;
	if (!(type & PERF_SAMPLE_TID))
		return 0;
	return HEADER_BYTES + (type & PERF_SAMPLE_IDENTIFIER ? FIELD_BYTES : 0) +
	       (type & PERF_SAMPLE_IP ? FIELD_BYTES : 0);
}

size_t seen_threads_offset(const struct record_layout *layout)
{
	size_t offset = layout->event_count ? offset_of(&layout->events[0]) : 0;
	for (size_t i = 0; i < layout->event_count; i++) {
		const struct sp_event *event = &layout->events[i];
		if (offset_of(event) != offset || (event->name && !strcmp(event->name, "offcpu-time")))
			return 0;
	}
	return offset;
}

bool seen_threads_merge(struct seen_threads *seen, const struct seen_thread *thread)
{
	bool added;
	if (!vec_reserve(&seen->items, seen->items.count + 1) ||
	    !u64map_put(&seen->index_of, thread->tid, seen->items.count, &added))
		return false;
	if (added)
		*vec_push(&seen->items) = *thread;
	return true;
}

bool seen_threads_add(struct seen_threads *seen, const struct raw_record *sample, size_t offset, bool swap)
{
	size_t size = sample->size < WALKER_SAMPLE_MIN ? sample->size : WALKER_SAMPLE_MIN;
	struct cursor cursor = cursor_make(sample->bytes, size, swap, NULL, 0);
	struct seen_thread thread;
	if (!cursor_skip(&cursor, offset) || !cursor_u32(&cursor, &thread.pid) ||
	    !cursor_u32(&cursor, &thread.tid) || thread.tid == seen->last)
		return true;
	seen->last = thread.tid;
	return seen_threads_merge(seen, &thread);
}
