/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Short byte arrays (build-ids, checksums, tags), and words of this machine at any address. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool bytes_equal(const void *a, size_t a_size, const void *b, size_t b_size)
{
	return a_size == b_size && (a_size == 0 || !memcmp(a, b, a_size));
}

static inline uint32_t bytes_u32(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t bytes_u64(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline void bytes_set_u32(uint8_t *bytes, uint32_t value)
{
	memcpy(bytes, &value, sizeof(value));
}

static inline void bytes_set_u64(uint8_t *bytes, uint64_t value)
{
	memcpy(bytes, &value, sizeof(value));
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
