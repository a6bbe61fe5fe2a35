/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/content.h"

#include <endian.h>
#include <string.h>
#include "base/hash.h"
#include "record/private_record.h"

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
	struct record_buffer bytes = {0};
	struct put data = {.buffer = &bytes};
	put_le64(&data, content->size);
	put_le64(&data, content->hash);
	put_le64(&data, content->ino);
	put_le32(&data, content->maj);
	put_le32(&data, content->min);
	put_bytes(&data, content->path, strlen(content->path) + 1);
	return private_record_encode(buffer, CONTENT_KIND, &data);
}

bool record_content(const struct sp_record *record, struct file_content *ret)
{
	struct cursor cursor;
	return private_record_read(record, CONTENT_KIND, &cursor) &&
	       cursor_u64(&cursor, &ret->size) && cursor_u64(&cursor, &ret->hash) &&
	       cursor_u64(&cursor, &ret->ino) && cursor_u32(&cursor, &ret->maj) &&
	       cursor_u32(&cursor, &ret->min) && cursor_text(&cursor, &ret->path);
}
