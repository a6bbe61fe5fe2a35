/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/events.h"

#include <assert.h>
#include "base/cleanup.h"
#include "file/reader_struct.h"
#include "reader/event_name.h"
#include "reader/recorded_names.h"

struct sp_error *events_add(struct sp_reader *reader, const struct sp_event *event)
{
	if (reader->events.count >= EVENTS_MAX)
		return error_new(SP_ERROR_LIMIT, "%s: more than %d events",
				 reader->path, EVENTS_MAX);
	struct sp_event *added = vec_push(&reader->events);
	NEED(added);
	*added = *event;
	return NULL;
}

struct sp_error *events_name(struct sp_reader *reader)
{
	CLEANUP(recorded_names_deinit) struct recorded_names names = {0};
	bool wanted = false;
	for (size_t i = 0; i < reader->events.count; i++)
		wanted |= !reader->events.items[i].name;
	if (wanted && !recorded_names_read(&names, reader))
		return error_no_memory();
	for (size_t i = 0; i < reader->events.count; i++) {
		struct sp_event *event = &reader->events.items[i];
		if (!event->name)
			event->name = event_name_derive(reader, &event->attr, &names);
		NEED(event->name);
	}
	return NULL;
}

size_t sp_reader_event_count(const struct sp_reader *reader)
{
	return reader->layout.event_count;
}

const struct sp_event *sp_reader_event(const struct sp_reader *reader, size_t index)
{
	assert(index < reader->layout.event_count);
	return &reader->layout.events[index];
}
