/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records in pieces, as ring buffers return them. A record may be divided between two pieces (spans).
 */
#pragma once

#include <stdint.h>
#include <sys/uio.h>

/* Value of `offset` for spans_write(): the file's current position. */
#define SPANS_APPEND INT64_C(-1)

uint64_t spans_size(const struct iovec *spans, int count);

/* Bytes to write: `size` bytes of the spans, after the first `skip` bytes. */
struct spans_part {
	const struct iovec *spans;
	int count; /* number of spans */
	uint64_t skip, size;
};

/*
 * Writes at `offset` or SPANS_APPEND. Returns 0 or the errno; *done_ret is the number of bytes written
 * before an error. EPIPE and EFBIG raise no signal.
 */
int spans_write(int fd, int64_t offset, const struct spans_part *part, uint64_t *done_ret);

/* Copies the first `size` bytes of the spans, which must have them. */
void spans_copy(const struct iovec *spans, void *to, size_t size);

/* A position in the spans. At the beginning, all members but `spans` are 0. */
struct spans_place {
	const struct iovec *spans;
	size_t span, at;
};

/*
 * Copies the next `size` bytes, which must exist, and moves the position after them. If `to` is NULL,
 * it only moves.
 */
void spans_copy_next(struct spans_place *place, void *to, size_t size);

/* Returns how many of the next `size` bytes belong to whole records. The bytes must exist. */
uint64_t spans_whole_at(const struct spans_place *place, uint64_t size);

/* Returns how many of the spans' first `size` bytes belong to whole records. */
uint64_t spans_whole_records(const struct iovec *spans, int count, uint64_t size);

/* Counts the samples after the first `skip` bytes, which must be whole records. */
uint64_t spans_count_samples(const struct iovec *spans, int count, uint64_t skip);
