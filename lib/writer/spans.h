/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records in pieces, as rings hand them out: counted, written, cut between records. */
#ifndef WRITER_SPANS_H
#define WRITER_SPANS_H

#include <stdint.h>
#include <sys/uio.h>

/* For spans_write(): where the file's position is, or where a stream goes on. */
#define SPANS_APPEND INT64_C(-1)

uint64_t spans_size(const struct iovec *spans, int count);

/*
 * Writes bytes [skip, skip + size) of the spans, at `offset` or SPANS_APPEND. 0, or
 * the errno; *done_ret is how much was written before it. The signal that comes
 * with EPIPE or EFBIG is not raised.
 */
int spans_write(int fd, int64_t offset, const struct iovec *spans, int count, uint64_t skip,
		uint64_t size, uint64_t *done_ret);

/* Copies the first `size` bytes, which must be there. */
void spans_copy(const struct iovec *spans, void *to, size_t size);

/* Where in the spans one is; of the beginning all but `spans` is 0. */
struct spans_place {
	const struct iovec *spans;
	size_t span, at;
};

/* Copies the next `size` bytes, which must be there, and moves on; to NULL: only that. */
void spans_take(struct spans_place *place, void *to, size_t size);

/* How many of the next `size` bytes, which must be there, are whole records. */
uint64_t spans_whole_at(const struct spans_place *place, uint64_t size);

/* How many of the first `size` bytes of the spans are whole records. */
uint64_t spans_whole_records(const struct iovec *spans, int count, uint64_t size);

/* How many records of a type begin behind the first `skip` bytes, which are whole records. */
uint64_t spans_count_records(const struct iovec *spans, int count, uint64_t skip, uint32_t type);

#endif
