/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/kept.h"

#include <assert.h>
#include "record/private_record.h"

struct sp_error *record_encode_kept(struct record_buffer *buffer, const char *name,
				    const void *bytes, size_t size)
{
	struct record_buffer encoded = {0};
	struct put data = {.buffer = &encoded};
	assert(strlen(name) < KEPT_NAME_SIZE);
	put_le64(&data, size);
	put_bytes(&data, name, strlen(name));
	put_zeros(&data, KEPT_NAME_SIZE - strlen(name));
	put_bytes(&data, bytes, size);
	return private_record_encode(buffer, KEPT_KIND, &data);
}

bool record_kept(const struct sp_record *record, char name_ret[KEPT_NAME_SIZE],
		 struct sp_bytes *ret)
{
	struct cursor cursor;
	uint64_t size;
	const char *name;
	const uint8_t *bytes;
	if (!private_record_read(record, KEPT_KIND, &cursor) || !cursor_u64(&cursor, &size) ||
	    !cursor_string(&cursor, KEPT_NAME_SIZE, &name) ||
	    size > cursor_left(&cursor) || !cursor_bytes(&cursor, size, &bytes))
		return false;
	memcpy(name_ret, name, KEPT_NAME_SIZE);
	*ret = (struct sp_bytes){bytes, size};
	return true;
}
