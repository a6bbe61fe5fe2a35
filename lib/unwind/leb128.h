/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers of variable length of DWARF, read from untrusted bytes. They may be padded, but
 * not without end: reading one costs the same for everybody.
 */
#ifndef UNWIND_LEB128_H
#define UNWIND_LEB128_H

#include "base/cursor.h"

#define LEB128_SIZE_MAX 32

static inline const uint8_t *leb128_limit(const struct cursor *cursor)
{
	return cursor_left(cursor) > LEB128_SIZE_MAX ? cursor->pos + LEB128_SIZE_MAX : cursor->end;
}

/* Bits above the 64th are dropped; false where the bytes end first. */
static inline bool cursor_uleb128(struct cursor *cursor, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	const uint8_t *pos = cursor->pos, *end = leb128_limit(cursor);
	while (pos < end) {
		uint8_t byte = *pos++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
		if (!(byte & 0x80)) {
			cursor->pos = pos;
			*ret = value;
			return true;
		}
	}
	return false;
}

static inline bool cursor_sleb128(struct cursor *cursor, int64_t *ret)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	const uint8_t *pos = cursor->pos, *end = leb128_limit(cursor);
	while (pos < end) {
		uint8_t byte = *pos++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
		if (!(byte & 0x80)) {
			if (shift < 64 && (byte & 0x40))
				value |= ~(uint64_t)0 << shift;
			cursor->pos = pos;
			*ret = (int64_t)value;
			return true;
		}
	}
	return false;
}

#endif
