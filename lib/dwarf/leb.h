/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cursor functions for DWARF's data types. They return false if the data end too early. */
#pragma once

#include "base/leb128.h"

static inline bool cursor_u24(struct cursor *cursor, uint32_t *ret)
{
	const uint8_t *b;
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != cursor->swap;
	if (!cursor_bytes(cursor, 3, &b))
		return false;
	*ret = big ? (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2]
		   : (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
	return true;
}

/* An unsigned integer of 1, 2, 3, 4 or 8 bytes. */
static inline bool cursor_unsigned(struct cursor *cursor, unsigned int size, uint64_t *ret)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	bool ok;
	switch (size) {
	case 1:
		ok = cursor_u8(cursor, &u8);
		*ret = ok ? u8 : 0;
		return ok;
	case 2:
		ok = cursor_u16(cursor, &u16);
		*ret = ok ? u16 : 0;
		return ok;
	case 3:
		ok = cursor_u24(cursor, &u32);
		*ret = ok ? u32 : 0;
		return ok;
	case 4:
		ok = cursor_u32(cursor, &u32);
		*ret = ok ? u32 : 0;
		return ok;
	case 8:
		return cursor_u64(cursor, ret);
	default:
		return false;
	}
}

/* Reads the initial length of a unit or table: its size, and the size of its offsets (4 or 8). */
static inline bool cursor_length(struct cursor *cursor, uint64_t *ret, uint8_t *offset_size_ret)
{
	uint32_t first;
	uint64_t length;
	if (!cursor_u32(cursor, &first) || (first >= 0xfffffff0 && first != 0xffffffff))
		return false;
	length = first;
	if (first == 0xffffffff && !cursor_u64(cursor, &length))
		return false;
	*offset_size_ret = first == 0xffffffff ? 8 : 4;
	*ret = length;
	return true;
}
