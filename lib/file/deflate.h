/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compression of records to COMPRESSED records (81), as by perf record -z. A build without libzstd
 * has deflate_none.c: deflater_new() then fails with SP_ERROR_UNSUPPORTED.
 */
#pragma once

#include "record/encode.h"

/* Number of bytes compressed at a time. Each becomes a frame that can be read without the others. */
#define DEFLATE_SIZE ((size_t)256 * 1024)

struct deflater;

/* Creates a compressor. Levels above zstd's highest mean the highest. */
struct sp_error *deflater_new(int level, struct deflater **ret) SP_MUST_CHECK;
void deflater_free(struct deflater *deflater);

/*
 * Compresses `size` bytes, at most DEFLATE_SIZE, and appends them to `records` as COMPRESSED records.
 * Nothing stays inside the compressor. The size of each record is a multiple of 8.
 */
struct sp_error *deflater_put(struct deflater *deflater, const void *bytes, size_t size,
			      struct record_buffer *records) SP_MUST_CHECK;
