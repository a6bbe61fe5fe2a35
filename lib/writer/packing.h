/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records on their way into a compressed file: gathered, and compressed a frame at a time. */
#ifndef WRITER_PACKING_H
#define WRITER_PACKING_H

#include <stdbool.h>
#include <sys/uio.h>
#include "file/deflate.h"

/* Zeroed: nothing is compressed. */
struct packing {
	struct deflater *deflater;
	struct record_buffer raw;    /* gathered, and not compressed yet */
	struct record_buffer packed; /* what packing_next() made */
	uint64_t raw_bytes, packed_bytes; /* in all */
};

/* With a level of 0 it stays zeroed. */
struct sp_error *packing_init(struct packing *packing, int level) SP_MUST_CHECK;
void packing_deinit(struct packing *packing);

/* Gathers whole records. */
struct sp_error *packing_add(struct packing *packing, const struct iovec *spans,
			     int count) SP_MUST_CHECK;

/*
 * Compresses the oldest of what is gathered, whole records of DEFLATE_SIZE at most, into
 * `packed`; *samples_ret is how many of them are SAMPLE. There must be some. What cannot be
 * compressed is dropped.
 */
struct sp_error *packing_next(struct packing *packing, uint64_t *samples_ret) SP_MUST_CHECK;

/* Forgets what is gathered; how many of it were samples. */
uint64_t packing_drop(struct packing *packing);

/* How many times as long the records were, rounded, and 1 at least. */
uint32_t packing_ratio(const struct packing *packing);

#endif
