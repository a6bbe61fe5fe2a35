/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink receives the drained records: whole records, as spans of memory that are valid during
 * the call only. The recorder's sink is its write queue.
 */
#pragma once

#include <sys/uio.h>
#include "base/error.h"
#include "base/vec.h"
#include "ring/ring.h"

struct sink {
	/* Copies all spans; may change their entries. */
	struct sp_error *(*write)(void *arg, struct iovec *spans, int count);
	void *arg;
};

#define BATCH_SPANS 256
#define BATCH_COPY_SIZE 65536

/*
 * Spans on their way to a sink. A ring's bytes are given back to the kernel once the sink has them:
 * batch_add_ring() says which bytes are of a ring, and batch_release() how far it has been read.
 */
struct batch {
	const struct sink *sink;
	bool copy_all;
	struct iovec spans[BATCH_SPANS];
	int span_count;
	size_t size; /* bytes of all spans */
	uint8_t *copies; /* BATCH_COPY_SIZE */
	size_t copied;
	struct { VEC(struct batch_release); } releases;
};

struct batch_release {
	struct ring *ring;
	uint64_t position;
};

struct sp_error *batch_init(struct batch *batch, const struct sink *sink) SP_MUST_CHECK;
void batch_deinit(struct batch *batch);

/*
 * The ring's bytes [begin, end): as spans where they lie, or copied where there are few. With
 * batch.copy_all they are always copied, and may be released at once.
 */
struct sp_error *batch_add_ring(struct batch *batch, const struct ring *ring, uint64_t begin,
				uint64_t end) SP_MUST_CHECK;

/*
 * Copies `size` bytes of the ring, at most BATCH_COPY_SIZE. The caller may change the copy until
 * the next call.
 */
struct sp_error *batch_copy_ring(struct batch *batch, const struct ring *ring, uint64_t begin, size_t size,
				 uint8_t **copy_ret) SP_MUST_CHECK;

/* Bytes that stay where they are until the batch is flushed. */
struct sp_error *batch_add_bytes(struct batch *batch, const void *bytes, size_t size) SP_MUST_CHECK;

/* All of `ring` before `position` can go once the batch is flushed. */
struct sp_error *batch_release(struct batch *batch, struct ring *ring,
			       uint64_t position) SP_MUST_CHECK;

/*
 * Hands all to the sink and releases the rings, also when the sink fails: what
 * cannot be written is not waited for.
 */
struct sp_error *batch_flush(struct batch *batch) SP_MUST_CHECK;
