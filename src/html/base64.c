/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/base64.h"

#include <stdint.h>
#include <stdlib.h>

struct base64 {
	FILE *out;
	uint32_t bits; /* bytes that do not fill a group of three yet */
	unsigned int count;
};

/* Writes `digits` digits of 24 bits. */
static void put_digits(FILE *out, uint32_t bits, unsigned int digits)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (unsigned int i = 0; i < digits; i++)
		putc(alphabet[bits >> (18 - 6 * i) & 63], out);
}

static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	struct base64 *base64 = cookie;
	for (size_t i = 0; i < size; i++) {
		base64->bits = base64->bits << 8 | (unsigned char)bytes[i];
		if (++base64->count < 3)
			continue;
		put_digits(base64->out, base64->bits, 4);
		base64->bits = 0;
		base64->count = 0;
	}
	return ferror(base64->out) ? 0 : (ssize_t)size;
}

static int close_stream(void *cookie)
{
	struct base64 *base64 = cookie;
	FILE *out = base64->out;
	if (base64->count) {
		put_digits(out, base64->bits << 8 * (3 - base64->count), base64->count + 1);
		fputs(base64->count == 1 ? "==" : "=", out);
	}
	free(base64);
	return ferror(out) ? EOF : 0;
}

FILE *base64_open(FILE *out)
{
	const cookie_io_functions_t functions = {.write = write_some, .close = close_stream};
	struct base64 *base64 = calloc(1, sizeof(*base64));
	if (!base64)
		return NULL;
	base64->out = out;
	FILE *stream = fopencookie(base64, "w", functions);
	if (!stream)
		free(base64);
	return stream;
}
