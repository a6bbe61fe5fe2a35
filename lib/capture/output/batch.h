/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records on their way from the rings to a sink, which gets whole records, as spans of memory that
 * are valid during the call only. The recorder's sink is its write queue.
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
 * Spans on their way to a sink. Bytes that are not copied stay in their ring, the kernel's or a
 * relay, until the sink has them: batch_release() states how far the ring has been read.
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
 * Adds the ring's bytes [begin, end): as spans, or copied if they are few. With batch.copy_all they
 * are always copied, and may be released at once.
 */
struct sp_error *batch_add_ring(struct batch *batch, const struct ring *ring, uint64_t begin,
				uint64_t end) SP_MUST_CHECK;

/*
 * Copies `size` bytes of the ring, at most BATCH_COPY_SIZE. The caller may change the copy until
 * the next call.
 */
struct sp_error *batch_copy_ring(struct batch *batch, const struct ring *ring, uint64_t begin, size_t size,
				 uint8_t **copy_ret) SP_MUST_CHECK;

/* Adds bytes that do not move until the batch is flushed. */
struct sp_error *batch_add_bytes(struct batch *batch, const void *bytes, size_t size) SP_MUST_CHECK;

/* Releases the ring's bytes before `position` when the batch is flushed. */
struct sp_error *batch_release(struct batch *batch, struct ring *ring,
			       uint64_t position) SP_MUST_CHECK;

/*
 * Passes all to the sink and releases the rings, also if the sink fails: the kernel needs the room.
 */
struct sp_error *batch_flush(struct batch *batch) SP_MUST_CHECK;
