/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records into COMPRESSED records (81), as perf record -z makes them. deflate_none.c stands in
 * where the build has no libzstd: deflater_new() then fails with SP_ERROR_UNSUPPORTED.
 */
#ifndef FILE_DEFLATE_H
#define FILE_DEFLATE_H

#include "record/encode.h"

/* What is compressed at a time: a frame of its own, so that it can be read without the others. */
#define DEFLATE_SIZE ((size_t)256 * 1024)

struct deflater;

/* A level beyond the highest is that one. */
struct sp_error *deflater_new(int level, struct deflater **ret) SP_MUST_CHECK;
void deflater_free(struct deflater *deflater);

/*
 * Appends to `records` the COMPRESSED records that hold those `size` bytes, at most
 * DEFLATE_SIZE of them: nothing of them is left inside the compressor. All that is
 * appended is a multiple of 8 bytes, each record too.
 */
struct sp_error *deflater_put(struct deflater *deflater, const void *bytes, size_t size,
			      struct record_buffer *records) SP_MUST_CHECK;

#endif
