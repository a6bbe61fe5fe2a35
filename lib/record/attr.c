/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The attr is copied whole and then, if it is of the other byte order, turned
 * field by field, by a table of offsets: unlike assignments to named fields this
 * also holds for fields newer than this build's linux/perf_event.h.
 *
 * Its flags are bit-fields. A big-endian compiler fills each byte from the high
 * bit, so bit n of one order is the mirrored bit of the same byte in the other;
 * precise_ip alone has two bits, on both sides of a byte's edge, and so comes out
 * with them exchanged.
 */
#include "record/attr.h"

#include <assert.h>
#include "record/types.h"

#define ATTR_FLAGS_AT 40

static const struct attr_field {
	uint8_t at, size;
} attr_fields[] = {
	{0, 4},   {4, 4},   {8, 8},   {16, 8},  {24, 8},  {32, 8},   {48, 4},  {52, 4},
	{56, 8},  {64, 8},  {72, 8},  {80, 8},  {88, 4},  {92, 4},   {96, 8},  {104, 4},
	{108, 2}, {110, 2}, {112, 4}, {116, 4}, {120, 8}, {128, 8},  {136, 8},
};

static_assert(sizeof(struct perf_event_attr) <= PERF_ATTR_SIZE_VER9, "the tail has all fields");

static uint8_t mirror(uint8_t byte)
{
	byte = (uint8_t)((byte & 0xf0) >> 4 | (byte & 0x0f) << 4);
	byte = (uint8_t)((byte & 0xcc) >> 2 | (byte & 0x33) << 2);
	return (uint8_t)((byte & 0xaa) >> 1 | (byte & 0x55) << 1);
}

static void reverse(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		uint8_t byte = bytes[i];
		bytes[i] = bytes[size - 1 - i];
		bytes[size - 1 - i] = byte;
	}
}

static void attr_swap(struct long_attr *whole)
{
	struct perf_event_attr *attr = &whole->attr;
	uint8_t *bytes = whole->bytes;
	for (size_t i = 0; i < sizeof(attr_fields) / sizeof(*attr_fields); i++)
		reverse(bytes + attr_fields[i].at, attr_fields[i].size);
	for (size_t i = 0; i < 8; i++)
		bytes[ATTR_FLAGS_AT + i] = mirror(bytes[ATTR_FLAGS_AT + i]);
	unsigned int precise = attr->precise_ip;
	attr->precise_ip = ((precise & 1) << 1 | precise >> 1) & 3;
}

struct sp_attr_tail attr_tail_of(const struct long_attr *whole)
{
	struct sp_attr_tail tail;
	memcpy(&tail, whole->bytes + PERF_ATTR_SIZE_VER7, sizeof(tail));
	return tail;
}

struct long_attr attr_whole(const struct perf_event_attr *attr, const struct sp_attr_tail *tail)
{
	struct long_attr whole = {.bytes = {0}};
	memcpy(whole.bytes, attr, sizeof(*attr));
	if (tail->config3 || tail->config4)
		memcpy(whole.bytes + PERF_ATTR_SIZE_VER7, tail, sizeof(*tail));
	return whole;
}

struct sp_error *attr_decode(struct cursor *cursor, size_t room, struct perf_event_attr *ret,
			     struct sp_attr_tail *tail_ret)
{
	struct long_attr whole = {.bytes = {0}};
	struct cursor peek = *cursor;
	uint32_t size;
	if (room > cursor_left(cursor))
		room = cursor_left(cursor);
	if (room < PERF_ATTR_SIZE_VER0 || !cursor_skip(&peek, 4) || !cursor_u32(&peek, &size))
		return cursor_error(cursor, "an event's attr takes at least %d bytes, here are %zu",
				    PERF_ATTR_SIZE_VER0, room);
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0 || size > room)
		return cursor_error(cursor,
				    "an event's attr says that it has %u bytes, where 64 to %zu fit",
				    size, room);
	const uint8_t *bytes = NULL;
	bool fits = cursor_bytes(cursor, size, &bytes);
	assert(fits);
	memcpy(whole.bytes, bytes, size < sizeof(whole.bytes) ? size : sizeof(whole.bytes));
	if (cursor->swap)
		attr_swap(&whole);
	whole.attr.size = size;
	*ret = whole.attr;
	*tail_ret = attr_tail_of(&whole);
	return NULL;
}
