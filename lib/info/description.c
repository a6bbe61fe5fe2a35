/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "info/description.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"

void description_add(struct sp_description *to, const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *text = format_text_va(format, args);
	va_end(args);
	char *value = text ? arena_copy_string(&to->arena, text, strlen(text)) : NULL;
	char *key = arena_copy_string(&to->arena, name, strlen(name));
	struct sp_description_row *row = value && key ? vec_push(&to->rows) : NULL;
	if (row)
		*row = (struct sp_description_row){key, value};
	else
		to->no_memory = true;
}

bool description_read_string(struct cursor *cursor, const char **ret)
{
	uint32_t size;
	return cursor_u32(cursor, &size) && cursor_string(cursor, size, ret);
}

void sp_description_free(struct sp_description *description)
{
	if (!description)
		return;
	arena_deinit(&description->arena);
	vec_deinit(&description->rows);
	free(description);
}

size_t sp_description_count(const struct sp_description *description)
{
	return description->rows.count;
}

const struct sp_description_row *sp_description_row(const struct sp_description *description,
						    size_t index)
{
	assert(index < description->rows.count);
	return &description->rows.items[index];
}
