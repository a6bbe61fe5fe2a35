/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/note.h"

#include <assert.h>
#include "record/private_record.h"

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
	struct cursor cursor = private_cursor(data, size);
	uint32_t kind;
	uint16_t count, zero;
	if (!cursor_skip(&cursor, ALIGNED(text_end)) || !cursor_u32(&cursor, &kind) ||
	    !cursor_u16(&cursor, &count) || !cursor_u16(&cursor, &zero) || zero || !kind ||
	    count > cursor_left(&cursor) / 8)
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

struct sp_error *record_encode_note(struct record_buffer *buffer, const struct sp_note *note)
{
	struct record_buffer bytes = {0};
	struct put data = {.buffer = &bytes};
	assert(note->value_count <= SP_NOTE_VALUES);
	size_t size = note->text ? note->size : sp_note_text(note, NULL, 0);
	put_le64(&data, note->time_ns);
	char *text = (char *)put_space(&data, size + 1);
	if (text && note->text)
		memcpy(text, note->text, size);
	else if (text)
		sp_note_text(note, text, size + 1);
	if (text)
		text[size] = '\0';
	if (!note->kind)
		return private_record_encode(buffer, NOTE_KIND, &data);
	put_align(&data, 0);
	put_le32(&data, note->kind);
	put_le32(&data, (uint32_t)note->value_count);
	for (size_t i = 0; i < note->value_count; i++)
		put_le64(&data, note->values[i]);
	put_bytes(&data, note->object, note->object_size);
	put_u8(&data, 0);
	return private_record_encode(buffer, NOTE_KIND, &data);
}

bool sp_record_note(const struct sp_record *record, struct sp_note *ret)
{
	struct cursor cursor;
	uint64_t time_ns;
	if (!private_record_read(record, NOTE_KIND, &cursor) || !cursor_u64(&cursor, &time_ns))
		return false;
	*ret = (struct sp_note){.text = (const char *)cursor.pos, .time_ns = time_ns};
	ret->size = strnlen(ret->text, cursor_left(&cursor));
	const struct sp_bytes *data = &record->event_update.data;
	struct parts parts = find_parts(data->bytes, data->size, TIME_SIZE + ret->size + 1);
	if (!parts.kind)
		return true;
	ret->kind = parts.kind;
	ret->value_count = parts.count < SP_NOTE_VALUES ? parts.count : SP_NOTE_VALUES;
	cursor = private_cursor(data->bytes + parts.values, ret->value_count * 8);
	for (size_t i = 0; i < ret->value_count; i++)
		(void)cursor_u64(&cursor, &ret->values[i]);
	ret->object = (const char *)data->bytes + parts.object;
	ret->object_size = strnlen(ret->object, data->size - parts.object);
	return true;
}
