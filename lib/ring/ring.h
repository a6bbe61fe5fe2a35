/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring that the kernel writes records into: one page of control data, then 2^n
 * bytes of records. Positions are the kernel's: they only grow, and are taken
 * modulo the size. Everything in [ring->tail, ring_head()) may be read where it
 * lies until it is released; the kernel never overwrites it, it drops new records
 * and counts them instead.
 *
 * Records begin at multiples of 8 and so does the ring, so that an aligned u64
 * of a record never wraps, though the record may.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include "base/error.h"

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t size;     /* bytes of data; a power of two */
	uint64_t tail;   /* all bytes before it were released */
	size_t map_size; /* 0: the caller owns the memory */
};

/*
 * Maps the ring of event `fd` with `size` bytes of data (a power of two, at least a page). Fails
 * with SP_ERROR_LIMIT if the user may not lock that much memory: a smaller ring may fit.
 */
struct sp_error *ring_map(struct ring *ring, int fd, size_t size) SP_MUST_CHECK;

/*
 * Maps with other protection (PROT_*): the kernel overwrites unread records of a read-only mapping.
 */
struct sp_error *ring_map_protected(struct ring *ring, int fd, size_t size,
				    int protection) SP_MUST_CHECK;

/* Makes a ring of memory that the caller fills and frees. */
void ring_init_memory(struct ring *ring, struct perf_event_mmap_page *page, const void *data,
		      size_t size);

/* Unmaps the ring; a zeroed one is allowed. */
void ring_deinit(struct ring *ring);

/* Returns the head. All bytes before it are visible after this call. */
uint64_t ring_head(const struct ring *ring);

/* Releases all bytes before `position` to the kernel. */
void ring_release(struct ring *ring, uint64_t position);

/* Returns the aligned u64 at a multiple of 8. */
static inline uint64_t ring_u64(const struct ring *ring, uint64_t position)
{
	uint64_t value;
	memcpy(&value, ring->data + (position & (ring->size - 1)), sizeof(value));
	return value;
}

/* Sets it, in a ring of plain memory only: the kernel's must not be written. */
static inline void ring_put_u64(struct ring *ring, uint64_t position, uint64_t value)
{
	memcpy((uint8_t *)(uintptr_t)ring->data + (position & (ring->size - 1)), &value,
	       sizeof(value));
}

static inline struct perf_event_header ring_header(const struct ring *ring, uint64_t position)
{
	struct perf_event_header header;
	memcpy(&header, ring->data + (position & (ring->size - 1)), sizeof(header));
	return header;
}

/*
 * Returns whether a whole record of a plausible size is at `position`, which must be less than
 * `end`. *ret is its header.
 */
static inline bool ring_record(const struct ring *ring, uint64_t position, uint64_t end,
			       struct perf_event_header *ret)
{
	struct perf_event_header header = ring_header(ring, position);
	if (header.size < sizeof(header) || header.size % 8 || header.size > end - position)
		return false;
	*ret = header;
	return true;
}

/* Returns the end of the next whole records before `end`, of at most `most` bytes together. */
uint64_t ring_whole_records(const struct ring *ring, uint64_t end, uint64_t most);

/*
 * Gets the bytes [begin, end) in the ring: one span, or two if they wrap. Returns the number of
 * spans.
 */
int ring_spans(const struct ring *ring, uint64_t begin, uint64_t end, struct iovec spans[2]);

/* Copies bytes out of the ring. */
void ring_copy(const struct ring *ring, uint64_t begin, size_t size, void *copy);
