/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/cursor.h"

#include <stdarg.h>
#include "base/cleanup.h"
#include "base/format.h"

bool cursor_string(struct cursor *cursor, size_t size, const char **ret)
{
	if (cursor_left(cursor) < size || !memchr(cursor->pos, 0, size))
		return false;
	*ret = (const char *)cursor->pos;
	cursor->pos += size;
	return true;
}

bool cursor_text(struct cursor *cursor, const char **ret)
{
	size_t left = cursor_left(cursor);
	const uint8_t *nul = left ? memchr(cursor->pos, 0, left) : NULL;
	if (!nul)
		return false;
	*ret = (const char *)cursor->pos;
	cursor->pos = nul + 1;
	return true;
}

bool cursor_line(struct cursor *cursor, const char **ret, size_t *size_ret)
{
	size_t left = cursor_left(cursor);
	if (!left)
		return false;
	const uint8_t *newline = memchr(cursor->pos, '\n', left);
	*ret = (const char *)cursor->pos;
	*size_ret = newline ? (size_t)(newline - cursor->pos) : left;
	cursor->pos = newline ? newline + 1 : cursor->end;
	return true;
}

struct sp_error *cursor_error(const struct cursor *cursor, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	NEED(what);
	return error_format(cursor->path, cursor_offset(cursor), "%s (%zu bytes are left)", what,
			    cursor_left(cursor));
}
