/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/note.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/error.h"

#define TIME_SIZE 8
#define ALIGNED(size) (((size) + 7) & ~(size_t)7)

/* Offsets of the parts after the text in a note's data; 0: absent. */
struct parts {
	uint32_t kind;
	size_t count, values, object, end;
};

/* Notes of this layout have a u16 0 where a record after the text would have its size. */
static struct parts find_parts(const uint8_t *data, size_t size, size_t text_end)
{
	struct parts parts = {.end = text_end};
	size_t begin = ALIGNED(text_end);
	struct cursor cursor;
	uint32_t kind;
	uint16_t count, zero;
	if (begin > size)
		return parts;
	cursor = cursor_make(data + begin, size - begin, false, NULL, 0);
	if (!cursor_u32(&cursor, &kind) || !cursor_u16(&cursor, &count) ||
	    !cursor_u16(&cursor, &zero) || zero)
		return parts;
	kind = le32toh(kind);
	count = le16toh(count);
	if (!kind || count > cursor_left(&cursor) / 8)
		return parts;
	parts.kind = kind;
	parts.count = count;
	parts.values = (size_t)(cursor.pos - data);
	parts.object = parts.values + parts.count * 8;
	const uint8_t *nul = memchr(data + parts.object, 0, size - parts.object);
	parts.end = nul ? (size_t)(nul - data) + 1 : size;
	return parts;
}

size_t note_data_size(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size > TIME_SIZE ? memchr(data + TIME_SIZE, 0, size - TIME_SIZE) : NULL;
	return nul ? find_parts(data, size, (size_t)(nul - data) + 1).end : 0;
}

static bool put_parts(struct record_buffer *data, const struct sp_note *note)
{
	size_t count = note->value_count, before = data->count, at = ALIGNED(before);
	size_t size = at + 8 + count * 8 + note->object_size + 1;
	uint32_t kind = htole32(note->kind);
	uint16_t values = htole16((uint16_t)count);
	if (!note->kind)
		return true;
	if (!vec_reserve(data, size))
		return false;
	memset(data->items + before, 0, size - before);
	memcpy(data->items + at, &kind, sizeof(kind));
	memcpy(data->items + at + 4, &values, sizeof(values));
	for (size_t i = 0; i < count; i++) {
		uint64_t value = htole64(note->values[i]);
		memcpy(data->items + at + 8 + i * 8, &value, sizeof(value));
	}
	if (note->object_size)
		memcpy(data->items + at + 8 + count * 8, note->object, note->object_size);
	data->count = size;
	return true;
}

struct sp_error *record_encode_note(struct record_buffer *buffer, const struct sp_note *note)
{
	uint64_t time = htole64(note->time_ns);
	struct record_buffer data = {0};
	assert(note->value_count <= SP_NOTE_VALUES);
	size_t size = note->text ? note->size : sp_note_text(note, NULL, 0);
	NEED(vec_reserve(&data, TIME_SIZE + size + 1));
	memcpy(data.items, &time, TIME_SIZE);
	if (note->text)
		memcpy(data.items + TIME_SIZE, note->text, size);
	else
		sp_note_text(note, (char *)data.items + TIME_SIZE, size + 1);
	data.items[TIME_SIZE + size] = 0;
	data.count = TIME_SIZE + size + 1;
	struct sp_error *error = put_parts(&data, note) ? NULL : error_no_memory();
	struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = NOTE_KIND, .data = {.bytes = data.items, .size = data.count}},
	};
	if (!error)
		error = record_encode(buffer, &record, NULL);
	vec_deinit(&data);
	return error;
}

bool sp_record_note(const struct sp_record *record, struct sp_note *ret)
{
	if (record->type != SP_RECORD_EVENT_UPDATE || record->event_update.kind != NOTE_KIND)
		return false;
	const struct sp_bytes *bytes = &record->event_update.data;
	const uint8_t *data = bytes->bytes;
	uint64_t time;
	if (bytes->size < sizeof(time))
		return false;
	memcpy(&time, data, sizeof(time));
	*ret = (struct sp_note){.text = (const char *)data + TIME_SIZE, .time_ns = le64toh(time)};
	ret->size = strnlen(ret->text, bytes->size - TIME_SIZE);
	struct parts parts = find_parts(data, bytes->size, TIME_SIZE + ret->size + 1);
	if (!parts.kind)
		return true;
	ret->kind = parts.kind;
	ret->value_count = parts.count < SP_NOTE_VALUES ? parts.count : SP_NOTE_VALUES;
	for (size_t i = 0; i < ret->value_count; i++) {
		uint64_t value;
		memcpy(&value, data + parts.values + i * 8, sizeof(value));
		ret->values[i] = le64toh(value);
	}
	ret->object = (const char *)data + parts.object;
	ret->object_size = strnlen(ret->object, bytes->size - parts.object);
	return true;
}
