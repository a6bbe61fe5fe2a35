/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/python_record.h"

#include <endian.h>
#include <string.h>
#include "base/cursor.h"
#include "base/error.h"

struct sp_error *record_encode_python(struct record_buffer *buffer,
				      const struct python_function *function)
{
	uint64_t start = htole64(function->start);
	uint32_t line = htole32(function->first_line);
	size_t name_size = strlen(function->name) + 1, file_size = strlen(function->file) + 1;
	struct record_buffer data = {0};
	NEED(vec_reserve(&data, PYTHON_FIXED_SIZE + name_size + file_size));
	memcpy(data.items, &start, sizeof(start));
	memcpy(data.items + sizeof(start), &line, sizeof(line));
	memcpy(data.items + PYTHON_FIXED_SIZE, function->name, name_size);
	memcpy(data.items + PYTHON_FIXED_SIZE + name_size, function->file, file_size);
	struct sp_record record = {
		.type = SP_RECORD_EVENT_UPDATE,
		.event_update = {.kind = PYTHON_KIND,
				 .data = {.bytes = data.items,
					  .size = PYTHON_FIXED_SIZE + name_size + file_size}},
	};
	struct sp_error *error = record_encode(buffer, &record, NULL);
	vec_deinit(&data);
	return error;
}

static bool read_text(struct cursor *cursor, const char **ret)
{
	const uint8_t *nul = memchr(cursor->pos, 0, cursor_left(cursor));
	return nul && cursor_string(cursor, (size_t)(nul - cursor->pos) + 1, ret);
}

bool record_python(const struct sp_record *record, struct python_function *ret)
{
	if (record->type != SP_RECORD_EVENT_UPDATE || record->event_update.kind != PYTHON_KIND)
		return false;
	const struct sp_bytes *data = &record->event_update.data;
	struct cursor cursor = cursor_make(data->bytes, data->size, false, NULL, 0);
	struct python_function function;
	if (!cursor_u64(&cursor, &function.start) || !cursor_u32(&cursor, &function.first_line) ||
	    !read_text(&cursor, &function.name) || !read_text(&cursor, &function.file))
		return false;
	function.start = le64toh(function.start);
	function.first_line = le32toh(function.first_line);
	if (!*function.name || !python_has_address(function.start) ||
	    function.start != python_function_of(function.start))
		return false;
	*ret = function;
	return true;
}
