/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/batch.h"

#include <stdlib.h>

/*
 * A span of its own costs the kernel about as much as copying this many bytes;
 * with a filter, runs of records that are kept can be as short as one record.
 */
#define COPY_BELOW 512

struct sp_error *batch_init(struct batch *batch, const struct sink *sink)
{
	*batch = (struct batch){.sink = sink, .copies = malloc(BATCH_COPY_SIZE)};
	return batch->copies ? NULL : error_no_memory();
}

void batch_deinit(struct batch *batch)
{
	free(batch->copies);
	vec_deinit(&batch->releases);
	*batch = (struct batch){0};
}

static struct sp_error *make_room(struct batch *batch, int spans, size_t copies)
{
	if (batch->span_count + spans <= BATCH_SPANS && batch->copied + copies <= BATCH_COPY_SIZE)
		return NULL;
	return batch_flush(batch);
}

static void add_span(struct batch *batch, void *bytes, size_t size)
{
	batch->size += size;
	if (batch->span_count) {
		struct iovec *last = &batch->spans[batch->span_count - 1];
		if ((uint8_t *)last->iov_base + last->iov_len == bytes) {
			last->iov_len += size;
			return;
		}
	}
	batch->spans[batch->span_count++] = (struct iovec){.iov_base = bytes, .iov_len = size};
}

struct sp_error *batch_copy_ring(struct batch *batch, const struct ring *ring, uint64_t begin,
				 size_t size, uint8_t **copy_ret)
{
	TRY(make_room(batch, 1, size));
	uint8_t *copied = batch->copies + batch->copied;
	ring_copy(ring, begin, size, copied);
	batch->copied += size;
	add_span(batch, copied, size);
	*copy_ret = copied;
	return NULL;
}

/* Returns the end of the last record that ends at most BATCH_COPY_SIZE bytes after `begin`. */
static uint64_t end_of_copy(const struct ring *ring, uint64_t begin)
{
	uint64_t at = begin, next = begin;
	for (; next - begin <= BATCH_COPY_SIZE; next = at + ring_header(ring, at).size)
		at = next;
	return at;
}

struct sp_error *batch_add_ring(struct batch *batch, const struct ring *ring, uint64_t begin,
				uint64_t end)
{
	uint8_t *copied;
	while (batch->copy_all && end - begin > BATCH_COPY_SIZE) {
		/* A part of a record would be counted and dropped as something else. */
		uint64_t part = end_of_copy(ring, begin);
		TRY(batch_add_ring(batch, ring, begin, part));
		begin = part;
	}
	size_t size = end - begin;
	if (!size)
		return NULL;
	if (size < COPY_BELOW || batch->copy_all)
		return batch_copy_ring(batch, ring, begin, size, &copied);
	TRY(make_room(batch, 2, 0));
	struct iovec spans[2];
	int count = ring_spans(ring, begin, end, spans);
	for (int i = 0; i < count; i++)
		add_span(batch, spans[i].iov_base, spans[i].iov_len);
	return NULL;
}

struct sp_error *batch_add_bytes(struct batch *batch, const void *bytes, size_t size)
{
	struct sp_error *error = size ? make_room(batch, 1, 0) : NULL;
	if (!error && size)
		add_span(batch, (void *)(uintptr_t)bytes, size);
	return error;
}

struct sp_error *batch_release(struct batch *batch, struct ring *ring, uint64_t position)
{
	NEED(vec_append(&batch->releases, (struct batch_release){ring, position}));
	return NULL;
}

struct sp_error *batch_flush(struct batch *batch)
{
	struct sp_error *error = NULL;
	if (batch->span_count)
		error = batch->sink->write(batch->sink->arg, batch->spans, batch->span_count);
	vec_each (release, &batch->releases)
		ring_release(release->ring, release->position);
	batch->releases.count = 0;
	batch->span_count = 0;
	batch->size = batch->copied = 0;
	return error;
}
