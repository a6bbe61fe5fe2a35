/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "info/description.h"

#include <stdarg.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/vec.h"

void description_add(struct sp_description *to, const char *name, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *text = format_text_va(format, args);
	va_end(args);
	char *value = arena_strdup(&to->arena, text);
	char *key = arena_strdup(&to->arena, name);
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

DEFINE_GETTER(sp_description_row, sp_description_row, sp_description, rows.items, rows.count)
