/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffer of records for a compressed file. They are compressed a frame at a time. */
#ifndef WRITER_PACKING_H
#define WRITER_PACKING_H

#include <stdbool.h>
#include <sys/uio.h>
#include "file/deflate.h"

/* Zeroed: nothing is compressed. */
struct packing {
	struct deflater *deflater;
	struct record_buffer raw;    /* not compressed yet */
	struct record_buffer packed; /* result of packing_next() */
	uint64_t raw_bytes, packed_bytes; /* in all */
};

/* Level 0: no compression, and *packing stays zeroed. */
struct sp_error *packing_init(struct packing *packing, int level) SP_MUST_CHECK;
void packing_deinit(struct packing *packing);

/* Adds whole records. */
struct sp_error *packing_add(struct packing *packing, const struct iovec *spans,
			     int count) SP_MUST_CHECK;

/*
 * Compresses the oldest whole records, at most DEFLATE_SIZE bytes, to `packed` and removes them,
 * also on failure. `packing` must not be empty. *samples_ret: number of removed SAMPLE records.
 */
struct sp_error *packing_next(struct packing *packing, uint64_t *samples_ret) SP_MUST_CHECK;

/* Removes all records that are not compressed yet; returns the number of samples. */
uint64_t packing_drop(struct packing *packing);

/* Compression ratio, rounded, at least 1. */
uint32_t packing_ratio(const struct packing *packing);

#endif
