/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWARF's LEB128 numbers of variable length: seven bits in each byte, lowest first; the last byte's top
 * bit is clear. Padding is accepted up to a limit, so that a number costs bounded time. As in cursor.h,
 * a number that does not fit returns false and changes nothing.
 */
#pragma once

#include "base/cursor.h"

/* Longest accepted number, with padding. 64 bits need 10 bytes. */
#define LEB128_SIZE_MAX 32

static inline const uint8_t *leb128_end(const struct cursor *cursor)
{
	return cursor_left(cursor) > LEB128_SIZE_MAX ? cursor->pos + LEB128_SIZE_MAX : cursor->end;
}

/* Bits above the 64th are dropped. */
static inline bool cursor_uleb(struct cursor *cursor, uint64_t *ret)
{
	const uint8_t *pos = cursor->pos, *end = leb128_end(cursor);
	uint64_t value = 0;
	for (unsigned int shift = 0; pos < end; shift += 7) {
		uint8_t byte = *pos++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		cursor->pos = pos;
		*ret = value;
		return true;
	}
	return false;
}

static inline bool cursor_sleb(struct cursor *cursor, int64_t *ret)
{
	const uint8_t *start = cursor->pos;
	uint64_t value;
	if (!cursor_uleb(cursor, &value))
		return false;
	unsigned int bits = (unsigned int)(cursor->pos - start) * 7;
	if (bits < 64 && cursor->pos[-1] & 0x40)
		value |= ~(uint64_t)0 << bits;
	*ret = (int64_t)value;
	return true;
}

/* Longest number that uleb_encode() writes. */
#define ULEB_SIZE 10

/* Writes an unsigned number in its shortest form; returns its size. */
static inline size_t uleb_encode(uint64_t value, uint8_t ret[ULEB_SIZE])
{
	size_t size = 0;
	do {
		ret[size++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (value);
	return size;
}

/* Skips a signed or unsigned number. */
static inline bool cursor_skip_leb(struct cursor *cursor)
{
	const uint8_t *end = leb128_end(cursor);
	for (const uint8_t *pos = cursor->pos; pos < end; pos++)
		if (!(*pos & 0x80)) {
			cursor->pos = pos + 1;
			return true;
		}
	return false;
}
