/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Entries of the table, in the order of the bytecode. The first byte of an entry, and no other, has bit 7:
 *
 *	1 kkkk nnn    kind k, for n + 1 code units of 2 bytes
 *
 * Kinds 0 to 9 are in the line before, 10 to 12 in the line (k - 10) after it. 13 and 14 add a signed
 * varint. 15 has no line. Columns follow.
 */
#include "python/linetable.h"

#include "base/cursor.h"

#define UNIT 2

enum { KIND_LINE_0 = 10, KIND_LINE_2 = 12, KIND_NO_COLUMNS = 13, KIND_LONG = 14, KIND_NONE = 15 };

/* Reads a varint of 6 bits a byte, lowest first; the sign is its lowest bit. */
static bool read_signed(struct cursor *cursor, int64_t *ret)
{
	uint64_t value = 0;
	uint8_t byte = 0x40;
	for (unsigned int shift = 0; byte & 0x40; shift += 6) {
		if (shift > 30 || !cursor_u8(cursor, &byte))
			return false;
		value |= (uint64_t)(byte & 0x3f) << shift;
	}
	*ret = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
	return true;
}

static bool read_delta(struct cursor *cursor, unsigned int kind, int64_t *ret)
{
	*ret = 0;
	if (kind == KIND_NO_COLUMNS || kind == KIND_LONG)
		return read_signed(cursor, ret);
	if (kind >= KIND_LINE_0 && kind <= KIND_LINE_2)
		*ret = kind - KIND_LINE_0;
	return true;
}

uint32_t python_linetable_line(const uint8_t *table, size_t size, uint32_t first_line, uint64_t offset)
{
	struct cursor cursor = cursor_make(table, size, false, NULL, 0);
	int64_t line = first_line, delta;
	uint64_t end = 0;
	uint8_t head;
	while (cursor_u8(&cursor, &head)) {
		unsigned int kind = head >> 3 & 15;
		if (!(head & 0x80))
			continue; /* a column of the entry before */
		if (!read_delta(&cursor, kind, &delta))
			return 0;
		line += delta;
		end += ((head & 7u) + 1) * UNIT;
		if (offset < end)
			return kind == KIND_NONE || line <= 0 || line > UINT32_MAX ? 0 : (uint32_t)line;
	}
	return 0;
}
