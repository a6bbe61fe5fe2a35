/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ring/relay.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "base/pages.h"

/* Rounds up to whole pages. */
#define PREPARED_STEP ((size_t)256 << 10)

/*
 * Smallest relay with huge pages: smaller ones are of many CPUs, and mostly empty. The mover
 * takes one page fault for each page, and a fault can take as long as copying several stacks.
 */
#define HUGE_LEAST ((size_t)16 << 20)

struct sp_error *relay_init(struct relay *relay, struct ring *source, size_t size)
{
	assert(size >= 2 * source->size && !(size & (size - 1)));
	struct perf_event_mmap_page *page = calloc(1, sizeof(*page));
	NEED(page);
	void *data = size >= HUGE_LEAST ? pages_map_huge(size) : pages_map(size);
	if (!data) {
		free(page);
		return error_no_memory();
	}
	*relay = (struct relay){.source = source, .page = page};
	ring_init_memory(&relay->out, page, data, size);
	return NULL;
}

void relay_deinit(struct relay *relay)
{
	if (relay->page)
		munmap((void *)(uintptr_t)relay->out.data, relay->out.size);
	free(relay->page);
	*relay = (struct relay){0};
}

void relay_prepare(struct relay *relay, size_t ahead)
{
	size_t size = relay->out.size;
	uint64_t wanted = __atomic_load_n(&relay->page->data_head, __ATOMIC_RELAXED) + ahead;
	if (wanted > size)
		wanted = size;
	if (relay->prepared >= wanted)
		return;
	uint8_t *begin = (uint8_t *)(uintptr_t)relay->out.data + relay->prepared;
	size_t bytes = (size_t)wanted - relay->prepared;
	bytes = (bytes + PREPARED_STEP - 1) / PREPARED_STEP * PREPARED_STEP;
	if (bytes > size - relay->prepared)
		bytes = size - relay->prepared;
	(void)madvise(begin, bytes, MADV_POPULATE_WRITE);
	relay->prepared += bytes;
}

/* Copies a span into the larger ring, where it may wrap. */
static void put(struct relay *relay, const struct iovec *span)
{
	uint8_t *data = (uint8_t *)(uintptr_t)relay->out.data;
	size_t size = relay->out.size, at = relay->head & (size - 1);
	size_t first = span->iov_len < size - at ? span->iov_len : size - at;
	memcpy(data + at, span->iov_base, first);
	memcpy(data, (const uint8_t *)span->iov_base + first, span->iov_len - first);
	relay->head += span->iov_len;
}

uint64_t relay_move(struct relay *relay, size_t record_max)
{
	struct ring *source = relay->source;
	uint64_t head = ring_head(source), end = head;
	/* Pairs with the reader's release: bytes that it has read may be overwritten. */
	uint64_t tail = __atomic_load_n(&relay->page->data_tail, __ATOMIC_ACQUIRE);
	uint64_t room = relay->out.size - (relay->head - tail);
	struct iovec spans[2];
	if (head - source->tail + record_max > source->size)
		__atomic_store_n(&relay->was_full, true, __ATOMIC_RELAXED);
	if (head - source->tail > room)
		end = ring_whole_records(source, head, room);
	__atomic_store_n(&relay->is_full, end != head, __ATOMIC_RELAXED);
	int count = ring_spans(source, source->tail, end, spans);
	for (int i = 0; i < count; i++)
		put(relay, &spans[i]);
	ring_release(source, end);
	__atomic_store_n(&relay->page->data_head, relay->head, __ATOMIC_RELEASE);
	return relay->head - tail;
}
