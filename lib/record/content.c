/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/content.h"

#include <endian.h>
#include <string.h>
#include "base/cursor.h"
#include "base/error.h"
#include "base/hash.h"

uint64_t content_hash_add(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	for (size_t at = 0; at < size; at += 8) {
		uint64_t word = 0;
		memcpy(&word, from + at, size - at < 8 ? size - at : 8);
		hash = hash_u64(hash + le64toh(word) + 1);
	}
	return hash;
}

struct sp_error *record_encode_content(struct record_buffer *buffer,
				       const struct file_content *content)
{
	const uint64_t numbers[] = {htole64(content->size), htole64(content->hash),
				    htole64(content->ino)};
	const uint32_t device[] = {htole32(content->maj), htole32(content->min)};
	size_t path_size = strlen(content->path) + 1;
	struct record_buffer data = {0};
	NEED(vec_reserve(&data, CONTENT_FIXED_SIZE + path_size));
	memcpy(data.items, numbers, sizeof(numbers));
	memcpy(data.items + sizeof(numbers), device, sizeof(device));
	memcpy(data.items + CONTENT_FIXED_SIZE, content->path, path_size);
	struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = CONTENT_KIND,
				 .data = {.bytes = data.items, .size = CONTENT_FIXED_SIZE + path_size}},
	};
	struct sp_error *error = record_encode(buffer, &record, NULL);
	vec_deinit(&data);
	return error;
}

bool record_content(const struct sp_record *record, struct file_content *ret)
{
	if (record->type != SP_RECORD_EVENT_UPDATE || record->event_update.kind != CONTENT_KIND)
		return false;
	const struct sp_bytes *data = &record->event_update.data;
	struct cursor cursor = cursor_make(data->bytes, data->size, false, NULL, 0);
	if (!cursor_u64(&cursor, &ret->size) || !cursor_u64(&cursor, &ret->hash) ||
	    !cursor_u64(&cursor, &ret->ino) || !cursor_u32(&cursor, &ret->maj) ||
	    !cursor_u32(&cursor, &ret->min) || !memchr(cursor.pos, 0, cursor_left(&cursor)))
		return false;
	ret->size = le64toh(ret->size);
	ret->hash = le64toh(ret->hash);
	ret->ino = le64toh(ret->ino);
	ret->maj = le32toh(ret->maj);
	ret->min = le32toh(ret->min);
	ret->path = (const char *)cursor.pos;
	return true;
}
