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

void backward_take(const struct ring *ring, uint64_t since, uint8_t *scratch,
		   struct backward_copy *copy, uint64_t *head_ret)
{
	uint64_t head = ring_head(ring), written = since - head;
	size_t there = written < ring->size ? (size_t)written : ring->size;
	/* As a place in the ring: positions may pass 0. */
	ring_copy(ring, head & (ring->size - 1), there, scratch);
	struct cursor cursor = cursor_make(scratch, there, false, NULL, 0);
	size_t size, whole = 0;
	while ((size = next_size(&cursor))) {
		/* Each goes before the one that is newer. */
		whole += size;
		memcpy(copy->records + ring->size - whole, scratch + whole - size, size);
	}
	memmove(copy->records, copy->records + ring->size - whole, whole);
	copy->size = whole;
	copy->overwritten = written - whole;
	copy->damaged = written == there ? there - whole : 0;
	if (copy->damaged)
		copy->overwritten = 0;
	*head_ret = head;
}
