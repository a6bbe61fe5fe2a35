/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounds-checked reading of untrusted bytes; all parsers use it. Invariant: begin <= pos <= end. A read
 * that does not fit returns false, does not advance, and leaves its result unchanged; cursor_error()
 * then composes a message with the position. Integers are converted to host byte order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/error.h"

struct cursor {
	const uint8_t *begin, *pos, *end;
	bool swap;        /* the data's byte order is not the host's */
	const char *path; /* path for messages; may be NULL; borrowed */
	uint64_t offset;  /* offset of `begin` in that file */
};

static inline struct cursor cursor_make(const void *bytes, size_t size, bool swap,
					const char *path, uint64_t offset)
{
	/* Empty input may be NULL, and C forbids even NULL + 0. */
	const uint8_t *begin = bytes ? bytes : (const uint8_t *)"";
	return (struct cursor){.begin = begin, .pos = begin, .end = begin + size,
			       .swap = swap, .path = path, .offset = offset};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->pos);
}

/* Returns the file offset of the next byte. */
static inline uint64_t cursor_offset(const struct cursor *cursor)
{
	return cursor->offset + (uint64_t)(cursor->pos - cursor->begin);
}

static inline bool cursor_u8(struct cursor *cursor, uint8_t *ret)
{
	if (cursor_left(cursor) < 1)
		return false;
	*ret = *cursor->pos++;
	return true;
}

static inline bool cursor_u16(struct cursor *cursor, uint16_t *ret)
{
	if (cursor_left(cursor) < sizeof(*ret))
		return false;
	memcpy(ret, cursor->pos, sizeof(*ret));
	if (cursor->swap)
		*ret = __builtin_bswap16(*ret);
	cursor->pos += sizeof(*ret);
	return true;
}

static inline bool cursor_u32(struct cursor *cursor, uint32_t *ret)
{
	if (cursor_left(cursor) < sizeof(*ret))
		return false;
	memcpy(ret, cursor->pos, sizeof(*ret));
	if (cursor->swap)
		*ret = __builtin_bswap32(*ret);
	cursor->pos += sizeof(*ret);
	return true;
}

static inline bool cursor_u64(struct cursor *cursor, uint64_t *ret)
{
	if (cursor_left(cursor) < sizeof(*ret))
		return false;
	memcpy(ret, cursor->pos, sizeof(*ret));
	if (cursor->swap)
		*ret = __builtin_bswap64(*ret);
	cursor->pos += sizeof(*ret);
	return true;
}

/* Reads a word of 4 or 8 bytes. */
static inline bool cursor_word(struct cursor *cursor, size_t size, uint64_t *ret)
{
	uint32_t narrow;
	if (size == 8)
		return cursor_u64(cursor, ret);
	if (!cursor_u32(cursor, &narrow))
		return false;
	*ret = narrow;
	return true;
}

/* Returns a pointer to the next `size` bytes, unconverted, and skips them. */
static inline bool cursor_bytes(struct cursor *cursor, size_t size, const uint8_t **ret)
{
	if (cursor_left(cursor) < size)
		return false;
	*ret = cursor->pos;
	cursor->pos += size;
	return true;
}

static inline bool cursor_skip(struct cursor *cursor, size_t size)
{
	const uint8_t *ignored;
	return cursor_bytes(cursor, size, &ignored);
}

/*
 * Reads a NUL-terminated string in a field of `size` bytes, and skips the field. False if the field
 * does not fit or has no NUL.
 */
bool cursor_string(struct cursor *cursor, size_t size, const char **ret);

/* Reads a string up to its NUL, and skips both. Returns false if there is no NUL before the end. */
bool cursor_text(struct cursor *cursor, const char **ret);

/*
 * Reads the next line as pointer and length, without its newline; false at the end. For text files
 * (/proc, perf maps): the last line may lack a newline.
 */
bool cursor_line(struct cursor *cursor, const char **ret, size_t *size_ret);

/* Makes an error "PATH: offset 0x…: MESSAGE: needs … bytes, … are left", or similar. */
struct sp_error *cursor_error(const struct cursor *cursor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
