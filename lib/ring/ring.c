/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ring/ring.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

struct sp_error *ring_map_protected(struct ring *ring, int fd, size_t size, int protection)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	assert(size >= page_size && !(size & (size - 1)));
	void *map = mmap(NULL, page_size + size, protection, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED && errno == EPERM)
		return error_new(SP_ERROR_LIMIT, "a ring of %zu KiB is more locked memory than allowed",
				 size / 1024);
	if (map == MAP_FAILED)
		return error_os(errno, "cannot map a ring of %zu KiB", size / 1024);
	ring_init_memory(ring, map, (uint8_t *)map + page_size, size);
	ring->map_size = page_size + size;
	return NULL;
}

struct sp_error *ring_map(struct ring *ring, int fd, size_t size)
{
	/* A writable mapping, because the kernel overwrites unread records of a read-only one. */
	return ring_map_protected(ring, fd, size, PROT_READ | PROT_WRITE);
}

void ring_init_memory(struct ring *ring, struct perf_event_mmap_page *page, const void *data,
		      size_t size)
{
	assert(size >= 8 && !(size & (size - 1)));
	*ring = (struct ring){.page = page, .data = data, .size = size, .tail = page->data_tail};
}

void ring_deinit(struct ring *ring)
{
	if (ring->map_size)
		munmap(ring->page, ring->map_size);
	*ring = (struct ring){0};
}

uint64_t ring_head(const struct ring *ring)
{
	/* Pairs with the barrier before the store in the kernel's perf_output_put_handle(). */
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

void ring_release(struct ring *ring, uint64_t position)
{
	if (position == ring->tail)
		return;
	ring->tail = position;
	/* All reads must come before the kernel may overwrite the bytes. */
	__atomic_store_n(&ring->page->data_tail, position, __ATOMIC_RELEASE);
}

uint64_t ring_whole_records(const struct ring *ring, uint64_t end, uint64_t most)
{
	uint64_t position = ring->tail;
	struct perf_event_header header;
	while (position < end && ring_record(ring, position, end, &header) &&
	       position + header.size - ring->tail <= most)
		position += header.size;
	return position;
}

int ring_spans(const struct ring *ring, uint64_t begin, uint64_t end, struct iovec spans[2])
{
	assert(begin <= end && end - begin <= ring->size);
	size_t size = end - begin, at = begin & (ring->size - 1);
	size_t first = size < ring->size - at ? size : ring->size - at;
	if (!size)
		return 0;
	spans[0] = (struct iovec){.iov_base = (void *)(uintptr_t)(ring->data + at), .iov_len = first};
	if (first == size)
		return 1;
	spans[1] = (struct iovec){.iov_base = (void *)(uintptr_t)ring->data,
				  .iov_len = size - first};
	return 2;
}

void ring_copy(const struct ring *ring, uint64_t begin, size_t size, void *copy)
{
	struct iovec spans[2];
	uint8_t *at = copy;
	int count = ring_spans(ring, begin, begin + size, spans);
	for (int i = 0; i < count; i++) {
		memcpy(at, spans[i].iov_base, spans[i].iov_len);
		at += spans[i].iov_len;
	}
}
