/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Short byte arrays: build-ids, checksums, tags. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool bytes_equal(const void *a, size_t a_size, const void *b, size_t b_size)
{
	return a_size == b_size && (a_size == 0 || !memcmp(a, b, a_size));
}

/* Writes lower case hex digits and a NUL: `ret` has room for 2 * size + 1. */
static inline void bytes_to_hex(const uint8_t *bytes, size_t size, char *ret)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < size; i++) {
		*ret++ = digits[bytes[i] >> 4];
		*ret++ = digits[bytes[i] & 15];
	}
	*ret = '\0';
}

#endif
