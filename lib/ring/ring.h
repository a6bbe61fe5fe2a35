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
#ifndef RING_RING_H
#define RING_RING_H

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
	uint64_t tail;   /* all before it has been released */
	size_t map_size; /* 0: not ours to unmap */
};

/*
 * Maps the ring of event `fd` with `size` bytes of data (a power of two, at least
 * a page). Fails with SP_ERROR_LIMIT where the locked memory the user may have is
 * used up: a smaller ring may then still fit.
 */
struct sp_error *ring_map(struct ring *ring, int fd, size_t size) SP_MUST_CHECK;

/* The same with that protection (PROT_*), by which the kernel knows what it may overwrite. */
struct sp_error *ring_map_protected(struct ring *ring, int fd, size_t size,
				    int protection) SP_MUST_CHECK;

/* A ring in memory that the caller fills and frees. */
void ring_init_memory(struct ring *ring, struct perf_event_mmap_page *page, const void *data,
		      size_t size);

/* Unmaps; a zeroed ring is allowed. */
void ring_deinit(struct ring *ring);

/* How far there are records. All bytes before it are visible after this call. */
uint64_t ring_head(const struct ring *ring);

/* Gives everything before `position` back to the kernel. */
void ring_release(struct ring *ring, uint64_t position);

/* The aligned u64 at a multiple of 8. */
static inline uint64_t ring_u64(const struct ring *ring, uint64_t position)
{
	uint64_t value;
	memcpy(&value, ring->data + (position & (ring->size - 1)), sizeof(value));
	return value;
}

/* Changes it, in a ring of plain memory: the kernel's own may not be written to. */
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
 * Whether a whole record of a sane size lies at `position`, which must be less
 * than `end`; *ret is then its header.
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

/* Returns the end of the next whole records before `end`, at most `most` bytes in all. */
uint64_t ring_whole_records(const struct ring *ring, uint64_t end, uint64_t most);

/* The bytes [begin, end) where they lie: one span, or two where they wrap; the count. */
int ring_spans(const struct ring *ring, uint64_t begin, uint64_t end, struct iovec spans[2]);

/* Copies them. */
void ring_copy(const struct ring *ring, uint64_t begin, size_t size, void *copy);

#endif
