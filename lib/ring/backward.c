/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *	          head                                          head + size
 *	           | newest | ... | ... | ... | oldest, its beginning|
 *
 * Positions are modulo the size: the picture's end is its begin, so that the newest record has
 * overwritten the end of the oldest. The size in that record's header leads beyond the end.
 */
#include "ring/backward.h"

#include <stdlib.h>
#include "base/cursor.h"

struct sp_error *backward_copy_init(struct backward_copy *copy, size_t ring_size)
{
	*copy = (struct backward_copy){.records = malloc(ring_size)};
	return copy->records ? NULL : error_no_memory();
}

void backward_copy_deinit(struct backward_copy *copy)
{
	free(copy->records);
	*copy = (struct backward_copy){0};
}

/* Returns the size of the next record; 0: there is none, or its end was overwritten. */
static size_t next_size(struct cursor *cursor)
{
	struct cursor header = *cursor;
	uint32_t type;
	uint16_t misc, size;
	if (!cursor_u32(&header, &type) || !cursor_u16(&header, &misc) || !cursor_u16(&header, &size) ||
	    size < sizeof(struct perf_event_header) || size % 8 || !type || !cursor_skip(cursor, size))
		return 0;
	return size;
}

struct backward_bytes backward_read(const struct ring *ring, uint64_t since, uint8_t *memory,
				    uint64_t *head_ret)
{
	uint64_t head = ring_head(ring), written = since - head;
	size_t size = written < ring->size ? (size_t)written : ring->size;
	/* Offset within the ring: positions may wrap at 0. */
	ring_copy(ring, head & (ring->size - 1), size, memory);
	*head_ret = head;
	return (struct backward_bytes){.items = memory, .size = size, .ring_size = ring->size,
				       .written = written};
}

void backward_order(const struct backward_bytes *bytes, struct backward_copy *copy)
{
	struct cursor cursor = cursor_make(bytes->items, bytes->size, false, NULL, 0);
	size_t size, whole = 0;
	while ((size = next_size(&cursor))) {
		/* Puts each record before the newer one. */
		whole += size;
		memcpy(copy->records + bytes->ring_size - whole, bytes->items + whole - size, size);
	}
	memmove(copy->records, copy->records + bytes->ring_size - whole, whole);
	copy->size = whole;
	copy->overwritten = bytes->written - whole;
	copy->damaged = bytes->written == bytes->size ? bytes->size - whole : 0;
	if (copy->damaged)
		copy->overwritten = 0;
}
