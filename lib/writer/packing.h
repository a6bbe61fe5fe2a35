/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Buffer of records that are to be compressed, one zstd frame at a time. */
#ifndef WRITER_PACKING_H
#define WRITER_PACKING_H

#include <stdbool.h>
#include <sys/uio.h>
#include "file/deflate.h"

/* A zeroed struct compresses nothing. */
struct packing {
	struct deflater *deflater;
	struct record_buffer raw;    /* records that are not compressed yet */
	struct record_buffer packed; /* result of packing_next() */
	struct record_buffer plain;  /* command lines among the last records, uncompressed */
	uint64_t raw_bytes, packed_bytes; /* total bytes before and after compression */
};

/* Prepares compression. With level 0, *packing stays zeroed. */
struct sp_error *packing_init(struct packing *packing, int level) SP_MUST_CHECK;
void packing_deinit(struct packing *packing);

/* Adds whole records to the buffer. */
struct sp_error *packing_add(struct packing *packing, const struct iovec *spans,
			     int count) SP_MUST_CHECK;

/*
 * Compresses the oldest whole records, at most DEFLATE_SIZE bytes, to `packed`; command lines go
 * to `plain`, so that an archive can overwrite their arguments in the file. All these records leave
 * the buffer even on failure. The buffer must not be empty. *samples_ret is the number of SAMPLE
 * records that left it.
 */
struct sp_error *packing_next(struct packing *packing, uint64_t *samples_ret) SP_MUST_CHECK;

/* Discards all records that are not compressed yet, and returns the number of samples among them. */
uint64_t packing_drop(struct packing *packing);

/* Returns the compression ratio, rounded, at least 1. */
uint32_t packing_ratio(const struct packing *packing);

#endif
