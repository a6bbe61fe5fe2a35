/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records in pieces, as ring buffers return them: counted, written, divided between records. */
#ifndef WRITER_SPANS_H
#define WRITER_SPANS_H

#include <stdint.h>
#include <sys/uio.h>

/* Offset for spans_write(): the file's position. */
#define SPANS_APPEND INT64_C(-1)

uint64_t spans_size(const struct iovec *spans, int count);

/* Bytes to write: `size` bytes of the spans after their first `skip`. */
struct spans_part {
	const struct iovec *spans;
	int count; /* number of spans */
	uint64_t skip, size;
};

/*
 * Writes at `offset` or SPANS_APPEND. Returns 0 or the errno; *done_ret is the number of bytes written
 * before it. EPIPE and EFBIG raise no signal.
 */
int spans_write(int fd, int64_t offset, const struct spans_part *part, uint64_t *done_ret);

/* Copies the first `size` bytes, which must exist. */
void spans_copy(const struct iovec *spans, void *to, size_t size);

/* A position in the spans. At the beginning, all but `spans` is 0. */
struct spans_place {
	const struct iovec *spans;
	size_t span, at;
};

/* Copies the next `size` bytes, which must exist, and moves past them. `to` NULL: only moves. */
void spans_take(struct spans_place *place, void *to, size_t size);

/* Returns how many of the next `size` bytes, which must exist, are whole records. */
uint64_t spans_whole_at(const struct spans_place *place, uint64_t size);

/* Returns how many of the spans' first `size` bytes are whole records. */
uint64_t spans_whole_records(const struct iovec *spans, int count, uint64_t size);

/* Counts records of a type after the first `skip` bytes, which are whole records. */
uint64_t spans_count_records(const struct iovec *spans, int count, uint64_t skip, uint32_t type);

#endif
