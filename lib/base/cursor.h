/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one way to read untrusted bytes. Invariant: begin <= pos <= end. A read
 * that does not fit returns false, does not advance, and leaves its result
 * untouched; cursor_error() then names the place. Integers are converted to
 * host order where the data is of the other byte order.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/error.h"

struct cursor {
	const uint8_t *begin, *pos, *end;
	bool swap;        /* the data's byte order is not the host's */
	const char *path; /* for messages; may be NULL; borrowed */
	uint64_t offset;  /* offset of `begin` in that file */
};

static inline struct cursor cursor_make(const void *bytes, size_t size, bool swap,
					const char *path, uint64_t offset)
{
	/* No bytes may have no address: C lets nothing be added to NULL, not even 0. */
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

/* The next `size` bytes where they lie, unconverted. */
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
 * A NUL-terminated string within the next `size` bytes, all of which are passed
 * over; false if they do not fit or hold no NUL.
 */
bool cursor_string(struct cursor *cursor, size_t size, const char **ret);

/*
 * The next line, without its newline, as pointer and length; false at the end.
 * For text files (/proc, perf maps); a last line without a newline counts.
 */
bool cursor_line(struct cursor *cursor, const char **ret, size_t *size_ret);

/* "PATH: offset 0x…: WHAT: needs … bytes, … are left" and the like. */
struct sp_error *cursor_error(const struct cursor *cursor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
