/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/gzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include "memory.h"

/* Value of windowBits for a gzip header and the largest window. */
#define GZIP_WINDOW (15 + 16)

/* Default of deflateInit(). */
#define MEMORY_LEVEL 8

struct gzip {
	z_stream stream;
	FILE *out;
};

/* Compresses input until all of it is used, or until the format is complete (Z_FINISH). */
static bool compress_input(struct gzip *gzip, int flush)
{
	unsigned char piece[64 << 10];
	do {
		gzip->stream.next_out = piece;
		gzip->stream.avail_out = sizeof(piece);
		deflate(&gzip->stream, flush);
		fwrite(piece, 1, sizeof(piece) - gzip->stream.avail_out, gzip->out);
	} while (!gzip->stream.avail_out);
	return !ferror(gzip->out);
}

/* Callback of the stream: zlib does not change its input, but has no const. */
static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	struct gzip *gzip = cookie;
	unsigned int most = size > 1 << 30 ? 1 << 30 : (unsigned int)size;
	gzip->stream.next_in = (unsigned char *)(uintptr_t)bytes;
	gzip->stream.avail_in = most;
	return compress_input(gzip, Z_NO_FLUSH) ? (ssize_t)most : 0;
}

static int close_stream(void *cookie)
{
	struct gzip *gzip = cookie;
	gzip->stream.avail_in = 0;
	bool done = compress_input(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
	free(gzip);
	return done ? 0 : EOF;
}

FILE *gzip_open(FILE *out)
{
	const cookie_io_functions_t functions = {.write = write_some, .close = close_stream};
	struct gzip *gzip = xcalloc(1, sizeof(*gzip));
	gzip->out = out;
	bool fine = deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
				 MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
	FILE *stream = fine ? fopencookie(gzip, "w", functions) : NULL;
	if (!stream)
		memory_end();
	return stream;
}
