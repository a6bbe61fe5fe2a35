/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Appends bytes in host order to a record_buffer. After a failure, nothing more is appended: callers
 * test put->no_memory once, at the end.
 */
#pragma once

#include <string.h>
#include "record/attr.h"
#include "record/encode.h"

struct put {
	struct record_buffer *buffer;
	bool no_memory;
};

/*
 * Appends `size` uninitialised bytes. Returns them, valid until the next call; NULL when out of memory.
 */
static inline uint8_t *put_space(struct put *put, size_t size)
{
	struct record_buffer *buffer = put->buffer;
	if (put->no_memory || !vec_reserve(buffer, buffer->count + size)) {
		put->no_memory = true;
		return NULL;
	}
	uint8_t *space = buffer->items + buffer->count;
	buffer->count += size;
	return space;
}

/* Appends bytes, which may be NULL if `size` is 0. */
static inline void put_bytes(struct put *put, const void *bytes, size_t size)
{
	uint8_t *space = put_space(put, size);
	if (space && size)
		memcpy(space, bytes, size);
}

static inline void put_zeros(struct put *put, size_t size)
{
	uint8_t *space = put_space(put, size);
	if (space && size)
		memset(space, 0, size);
}

static inline void put_u8(struct put *put, uint8_t value)
{
	put_bytes(put, &value, sizeof(value));
}

static inline void put_u16(struct put *put, uint16_t value)
{
	put_bytes(put, &value, sizeof(value));
}

static inline void put_u32(struct put *put, uint32_t value)
{
	put_bytes(put, &value, sizeof(value));
}

static inline void put_u64(struct put *put, uint64_t value)
{
	put_bytes(put, &value, sizeof(value));
}

/* Appends zeros until the bytes since offset `start` of the buffer are a multiple of 8. */
static inline void put_align(struct put *put, size_t start)
{
	put_zeros(put, -(put->buffer->count - start) & 7);
}

/*
 * Appends the first `size` bytes of an attr, with its size field set to that; zeros if the attr is
 * shorter.
 */
static inline void put_attr(struct put *put, const struct perf_event_attr *attr,
			    const struct sp_attr_tail *tail, uint32_t size)
{
	struct long_attr copy = attr_whole(attr, tail);
	size_t known = size < sizeof(copy) ? size : sizeof(copy);
	copy.attr.size = size;
	put_bytes(put, &copy, known);
	put_zeros(put, size - known);
}

/* Appends the fields of a SAMPLE; see record_encode(). */
struct sp_error *put_sample(struct put *put, const struct sp_sample *sample,
			    const struct perf_event_attr *attr) SP_MUST_CHECK;

/* Appends counters as in PERF_SAMPLE_READ and READ records. */
void put_counters(struct put *put, const struct sp_counters *counters, uint64_t read_format);
