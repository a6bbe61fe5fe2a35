/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads fields of the kernel's text files with a cursor over one line. If the text has another form,
 * a function returns false and does not advance the cursor, like all cursor functions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/cursor.h"

/* A cursor over the next line of `text`; false at the end. */
static inline bool text_line(struct cursor *text, struct cursor *ret)
{
	const char *line;
	size_t size;
	uint64_t offset = cursor_offset(text);
	if (!cursor_line(text, &line, &size))
		return false;
	*ret = cursor_make(line, size, false, text->path, offset);
	return true;
}

/* Returns a hexadecimal digit's value, 0 to 15; more if `c` is not one. */
static inline unsigned int text_hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

/* Reads 1 to 16 hexadecimal digits, without "0x". */
static inline bool text_hex(struct cursor *line, uint64_t *ret)
{
	uint64_t value = 0;
	const uint8_t *p = line->pos;
	for (; p < line->end; p++) {
		unsigned int digit = text_hex_digit(*p);
		if (digit > 15)
			break;
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (p == line->pos)
		return false;
	line->pos = p;
	*ret = value;
	return true;
}

static inline bool text_decimal(struct cursor *line, uint64_t *ret)
{
	uint64_t value = 0;
	const uint8_t *p = line->pos;
	for (; p < line->end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *p - '0', &value))
			return false;
	if (p == line->pos)
		return false;
	line->pos = p;
	*ret = value;
	return true;
}

static inline bool text_decimal_u32(struct cursor *line, uint32_t *ret)
{
	const uint8_t *before = line->pos;
	uint64_t value;
	if (!text_decimal(line, &value))
		return false;
	if (value > UINT32_MAX) {
		line->pos = before;
		return false;
	}
	*ret = (uint32_t)value;
	return true;
}

/* Skips the character `c`; false if another one is next. */
static inline bool text_char(struct cursor *line, char c)
{
	if (line->pos == line->end || *line->pos != (uint8_t)c)
		return false;
	line->pos++;
	return true;
}

/* Skips blanks and tabs. */
static inline void text_blanks(struct cursor *line)
{
	while (line->pos < line->end && (*line->pos == ' ' || *line->pos == '\t'))
		line->pos++;
}

/* Reads a word: the bytes before the next blank, tab or end of line; at least one. */
static inline bool text_word(struct cursor *line, const char **ret, size_t *size_ret)
{
	size_t size = cursor_left(line);
	const uint8_t *end = size ? memchr(line->pos, '\t', size) : NULL;
	if (end)
		size = (size_t)(end - line->pos);
	end = size ? memchr(line->pos, ' ', size) : NULL;
	if (end)
		size = (size_t)(end - line->pos);
	*ret = (const char *)line->pos;
	*size_ret = size;
	line->pos += size;
	return size > 0;
}
