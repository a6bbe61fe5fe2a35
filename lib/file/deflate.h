/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compression of records to COMPRESSED records (81), as by perf record -z. A build without libzstd
 * has deflate_none.c: deflater_new() then fails with SP_ERROR_UNSUPPORTED.
 */
#ifndef FILE_DEFLATE_H
#define FILE_DEFLATE_H

#include "record/encode.h"

/* Bytes compressed at a time: a frame of their own, which can be read without others. */
#define DEFLATE_SIZE ((size_t)256 * 1024)

struct deflater;

/* Levels above zstd's highest one mean that one. */
struct sp_error *deflater_new(int level, struct deflater **ret) SP_MUST_CHECK;
void deflater_free(struct deflater *deflater);

/*
 * Appends COMPRESSED records that hold `size` bytes, at most DEFLATE_SIZE, to `records`. Nothing
 * stays inside the compressor. The size of each record is a multiple of 8.
 */
struct sp_error *deflater_put(struct deflater *deflater, const void *bytes, size_t size,
			      struct record_buffer *records) SP_MUST_CHECK;

#endif
