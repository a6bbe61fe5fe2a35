/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/note.h"

#include <endian.h>
#include <string.h>
#include "base/error.h"

struct sp_error *record_encode_note(struct record_buffer *buffer, const char *text,
				    uint64_t time_ns)
{
	uint64_t time = htole64(time_ns);
	size_t size = strlen(text) + 1;
	struct record_buffer data = {0};
	if (!vec_reserve(&data, sizeof(time) + size))
		return error_no_memory();
	memcpy(data.items, &time, sizeof(time));
	memcpy(data.items + sizeof(time), text, size);
	struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = NOTE_KIND,
				 .data = {.bytes = data.items, .size = sizeof(time) + size}},
	};
	struct sp_error *error = record_encode(buffer, &record, NULL);
	vec_deinit(&data);
	return error;
}

bool sp_record_note(const struct sp_record *record, struct sp_note *ret)
{
	if (record->type != SP_RECORD_EVENT_UPDATE || record->event_update.kind != NOTE_KIND)
		return false;
	const struct sp_bytes *data = &record->event_update.data;
	uint64_t time;
	if (data->size < sizeof(time))
		return false;
	memcpy(&time, data->bytes, sizeof(time));
	ret->text = (const char *)data->bytes + sizeof(time);
	ret->size = strnlen(ret->text, data->size - sizeof(time));
	ret->time_ns = le64toh(time);
	return true;
}
