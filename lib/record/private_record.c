/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/private_record.h"

#include <endian.h>

void put_le32(struct put *put, uint32_t value)
{
	put_u32(put, htole32(value));
}

void put_le64(struct put *put, uint64_t value)
{
	put_u64(put, htole64(value));
}

struct sp_error *private_record_encode(struct record_buffer *buffer, uint64_t kind,
				       struct put *data)
{
	struct record_buffer *bytes = data->buffer;
	const struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = kind, .data = {bytes->items, bytes->count}},
	};
	struct sp_error *error =
		data->no_memory ? error_no_memory() : record_encode(buffer, &record, NULL);
	vec_deinit(bytes);
	return error;
}

bool private_record_read(const struct sp_record *record, uint64_t kind, struct cursor *ret)
{
	const struct sp_bytes *data = &record->event_update.data;
	if (record->type != SP_RECORD_EVENT_UPDATE || record->event_update.kind != kind)
		return false;
	*ret = private_cursor(data->bytes, data->size);
	return true;
}
