/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/kept.h"

#include <assert.h>
#include <endian.h>
#include <string.h>
#include "base/cursor.h"
#include "base/error.h"

struct sp_error *record_encode_kept(struct record_buffer *buffer, const char *name,
				    const void *bytes, size_t size)
{
	uint64_t file_size = htole64(size);
	char text[KEPT_NAME_SIZE] = "";
	struct record_buffer data = {0};
	assert(strlen(name) < sizeof(text));
	memcpy(text, name, strlen(name));
	NEED(vec_reserve(&data, sizeof(file_size) + sizeof(text) + size));
	memcpy(data.items, &file_size, sizeof(file_size));
	memcpy(data.items + sizeof(file_size), text, sizeof(text));
	memcpy(data.items + sizeof(file_size) + sizeof(text), bytes, size);
	struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = KEPT_KIND,
				 .data = {.bytes = data.items,
					  .size = sizeof(file_size) + sizeof(text) + size}},
	};
	struct sp_error *error = record_encode(buffer, &record, NULL);
	vec_deinit(&data);
	return error;
}

bool record_kept(const struct sp_record *record, char name_ret[KEPT_NAME_SIZE],
		 struct sp_bytes *ret)
{
	if (record->type != SP_RECORD_EVENT_UPDATE || record->event_update.kind != KEPT_KIND)
		return false;
	const struct sp_bytes *data = &record->event_update.data;
	size_t head = sizeof(uint64_t) + KEPT_NAME_SIZE;
	if (data->size < head)
		return false;
	uint64_t size;
	memcpy(&size, data->bytes, sizeof(size));
	size = le64toh(size);
	const char *name = (const char *)data->bytes + sizeof(size);
	if (size > data->size - head || strnlen(name, KEPT_NAME_SIZE) == KEPT_NAME_SIZE)
		return false;
	memcpy(name_ret, name, KEPT_NAME_SIZE);
	*ret = (struct sp_bytes){data->bytes + head, size};
	return true;
}
