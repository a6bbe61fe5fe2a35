/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Primitives of the event string's parser: characters, words, errors, specs. */
#include "event/parser.h"

#include <stdarg.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "proc/proc_text.h"

bool parser_is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_-.*?![]+", c));
}

void parser_skip_blanks(struct parser *parser)
{
	while (parser_at(parser) == ' ' || parser_at(parser) == '\t')
		parser->pos++;
}

struct text_slice parser_read_word(struct parser *parser)
{
	const char *begin = parser->pos;
	while (parser_is_word_char(parser_at(parser)))
		parser->pos++;
	return slice_between(begin, parser->pos);
}

struct text_slice parser_read_until(struct parser *parser, const char *stops)
{
	const char *begin = parser->pos;
	while (parser_at(parser) && !strchr(stops, *parser->pos))
		parser->pos += parser->pos[0] == '\\' && parser->pos + 1 < parser->end ? 2 : 1;
	return slice_between(begin, parser->pos);
}

char *parser_copy_slice(struct parser *parser, struct text_slice slice)
{
	return arena_copy_string(&parser->specs->arena, slice.text, slice.size);
}

char *parser_copy_unescaped(struct parser *parser, struct text_slice slice)
{
	char *copy = parser_copy_slice(parser, slice), *out = copy;
	for (char *in = copy; copy && *in; in++) {
		if (*in == '\\' && in[1])
			in++;
		*out++ = *in;
	}
	if (copy)
		*out = 0;
	return copy;
}

/* Returns the column of a character; the first is 1. */
static size_t column(const struct parser *parser, const char *place)
{
	return (size_t)(place - parser->text) + 1;
}

struct sp_error *parser_error(const struct parser *parser, const char *place, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	NEED(what);
	return error_new(SP_ERROR_INVALID, "event \"%s\": %s at character %zu", parser->text, what,
			 column(parser, place));
}

struct sp_error *parser_prefix_error(const struct parser *parser, const char *place,
				     struct sp_error *error)
{
	if (!sp_error_remedy(error))
		error = error_set_remedy(error, "see character %zu of the event and what it "
					 "names", column(parser, place));
	return error_prefix(error, "event \"%s\"", parser->text);
}

struct event_spec event_spec_make(const struct parser *parser)
{
	return (struct event_spec){.leader = parser->specs->count, .scale = 1};
}

struct sp_error *parser_add(struct parser *parser, const struct event_spec *spec)
{
	NEED(vec_append(parser->specs, *spec));
	return NULL;
}

struct sp_error *parser_load_pmus(struct parser *parser)
{
	if (parser->pmus_there)
		return NULL;
	parser->pmus_there = true;
	struct sp_error *error = pmus_read(&parser->pmus, parser->ctx);
	return error ? error_set_remedy(error, "use events that need no PMU description") : NULL;
}

struct sp_error *parser_find_tracefs(struct parser *parser)
{
	if (parser->tracefs_there)
		return NULL;
	parser->tracefs_there = true;
	return tracefs_init(&parser->tracefs, parser->ctx);
}

bool slice_number(struct text_slice slice, uint64_t *ret)
{
	struct cursor cursor = cursor_make(slice.text, slice.size, false, NULL, 0);
	struct cursor prefixed = cursor;
	uint64_t value;
	if (text_char(&prefixed, '0') && (text_char(&prefixed, 'x') || text_char(&prefixed, 'X'))) {
		if (!text_hex(&prefixed, &value) || cursor_left(&prefixed))
			return false;
	} else if (!text_decimal(&cursor, &value) || cursor_left(&cursor)) {
		return false;
	}
	*ret = value;
	return true;
}
