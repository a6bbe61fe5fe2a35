/* SPDX-License-Identifier: GPL-2.0-or-later */
#define ZLIB_CONST /* input is const */
#include "export/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/types.h>
#include <zlib.h>

#define BUFFER_SIZE 65536

/* 15: largest window; 16: gzip's header and trailer instead of zlib's. 8: zlib's default memory. */
#define WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL 8

struct gzip_out {
	FILE *out;
	z_stream stream;
	unsigned char buffer[BUFFER_SIZE];
};

struct gzip_out *gzip_open(FILE *out)
{
	struct gzip_out *gzip = calloc(1, sizeof(*gzip));
	if (!gzip)
		return NULL;
	gzip->out = out;
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

/* Compresses the input. deflate() fails only if it is called wrongly. */
static void compress_input(struct gzip_out *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->buffer;
		gzip->stream.avail_out = sizeof(gzip->buffer);
		deflate(&gzip->stream, flush);
		fwrite(gzip->buffer, 1, sizeof(gzip->buffer) - gzip->stream.avail_out, gzip->out);
	} while (!gzip->stream.avail_out);
}

void gzip_write(struct gzip_out *gzip, const void *bytes, size_t size)
{
	gzip->stream.next_in = bytes;
	while (size) {
		uInt part = size < UINT_MAX ? (uInt)size : UINT_MAX;
		gzip->stream.avail_in = part;
		compress_input(gzip, Z_NO_FLUSH);
		size -= part;
	}
}

bool gzip_close(struct gzip_out *gzip)
{
	if (!gzip)
		return true;
	gzip->stream.avail_in = 0;
	compress_input(gzip, Z_FINISH);
	bool good = !ferror(gzip->out);
	deflateEnd(&gzip->stream);
	free(gzip);
	return good;
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t size)
{
	struct gzip_out *gzip = cookie;
	gzip_write(gzip, bytes, size);
	return ferror(gzip->out) ? 0 : (ssize_t)size;
}

static int stream_close(void *cookie)
{
	return gzip_close(cookie) ? 0 : EOF;
}

FILE *gzip_stream(FILE *out)
{
	const cookie_io_functions_t functions = {.write = stream_write, .close = stream_close};
	struct gzip_out *gzip = gzip_open(out);
	FILE *stream = gzip ? fopencookie(gzip, "w", functions) : NULL;
	if (!stream)
		gzip_close(gzip);
	else
		setvbuf(stream, NULL, _IOFBF, BUFFER_SIZE);
	return stream;
}
