/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/python_record.h"

#include "record/private_record.h"

struct sp_error *record_encode_python(struct record_buffer *buffer,
				      const struct python_function *function)
{
	struct record_buffer bytes = {0};
	struct put data = {.buffer = &bytes};
	put_le64(&data, function->start);
	put_le32(&data, function->first_line);
	put_bytes(&data, function->name, strlen(function->name) + 1);
	put_bytes(&data, function->file, strlen(function->file) + 1);
	return private_record_encode(buffer, PYTHON_KIND, &data);
}

bool record_python(const struct sp_record *record, struct python_function *ret)
{
	struct cursor cursor;
	struct python_function function;
	if (!private_record_read(record, PYTHON_KIND, &cursor) ||
	    !cursor_u64(&cursor, &function.start) || !cursor_u32(&cursor, &function.first_line) ||
	    !cursor_text(&cursor, &function.name) || !cursor_text(&cursor, &function.file))
		return false;
	if (!*function.name || !python_has_address(function.start) ||
	    function.start != python_function_of(function.start))
		return false;
	*ret = function;
	return true;
}
