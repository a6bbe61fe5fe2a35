/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compression of an output stream in gzip format. */
#ifndef EXPORT_GZIP_H
#define EXPORT_GZIP_H

#include <stdbool.h>
#include <stdio.h>

struct gzip_out;

/*
 * Begins to compress to `out`, which stays the caller's. Write errors stay in `out`. Returns NULL when
 * out of memory.
 */
struct gzip_out *gzip_open(FILE *out);

void gzip_write(struct gzip_out *gzip, const void *bytes, size_t size);

/* Writes the rest and frees `gzip`, which may be NULL. Returns false if `out` has a write error. */
bool gzip_close(struct gzip_out *gzip);

/*
 * Returns a stream that compresses to `out`. fclose() completes the output and returns EOF if `out` has
 * a write error. Returns NULL when out of memory.
 */
FILE *gzip_stream(FILE *out);

#endif
