/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings over plain memory, filled by a producer that keeps the kernel's rules.
 * To be included by the tests that need one.
 */
#ifndef UNIT_RINGS_H
#define UNIT_RINGS_H

#include <stdlib.h>
#include "ring/ring.h"
#include "test.h"

struct memory_ring {
	struct perf_event_mmap_page page;
	uint8_t *data;
	size_t size;
};

/* `start` is the position of the first byte: near the end of the ring, records wrap. */
static inline struct ring memory_ring_init(struct memory_ring *memory, size_t size, uint64_t start)
{
	*memory = (struct memory_ring){.data = calloc(1, size), .size = size};
	ck_assert_ptr_nonnull(memory->data);
	memory->page.data_head = memory->page.data_tail = start;
	struct ring ring;
	ring_init_memory(&ring, &memory->page, memory->data, size);
	return ring;
}

static inline void memory_ring_deinit(struct memory_ring *memory)
{
	free(memory->data);
}

/* Drops a record that does not fit, as the kernel does. */
static inline bool memory_ring_put(struct memory_ring *memory, const void *bytes, size_t size)
{
	uint64_t head = memory->page.data_head;
	uint64_t tail = __atomic_load_n(&memory->page.data_tail, __ATOMIC_ACQUIRE);
	if (memory->size - (head - tail) < size)
		return false;
	size_t at = head & (memory->size - 1);
	size_t first = size < memory->size - at ? size : memory->size - at;
	memcpy(memory->data + at, bytes, first);
	memcpy(memory->data, (const uint8_t *)bytes + first, size - first);
	__atomic_store_n(&memory->page.data_head, head + size, __ATOMIC_RELEASE);
	return true;
}

/* Puts a sample of `size` bytes; every word is `seed`. */
static inline bool memory_ring_produce(struct memory_ring *memory, uint16_t size, uint64_t seed)
{
	uint64_t words[8192];
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = size};
	memcpy(words, &header, sizeof(header));
	for (size_t i = 1; i < size / 8u; i++)
		words[i] = seed;
	return memory_ring_put(memory, words, size);
}

#endif
