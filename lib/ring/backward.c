/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *	          head                                          head + size
 *	           | newest | ... | ... | ... | oldest, its beginning|
 *
 * All of it is taken modulo the size, so that where the picture ends the newest begins, which has
 * overwritten the end of the oldest. That one is known by its size, which leads beyond.
 */
#include "ring/backward.h"

#include <stdlib.h>
#include <sys/mman.h>
#include "base/cursor.h"

struct sp_error *backward_map(struct ring *ring, int fd, size_t size)
{
	return ring_map_protected(ring, fd, size, PROT_READ);
}

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

/* The size of the record that is next; 0: there is none, or not the whole of it. */
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
	/* The offset within the ring: positions may pass 0. */
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
		/* Each goes before the one that is newer. */
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
