/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unsigned 128-bit numbers for sums of products: 32-bit compilers lack them. */
#pragma once

#include <stdint.h>

struct wide {
	uint64_t high, low;
};

#ifdef __SIZEOF_INT128__
static inline struct wide wide_product(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (struct wide){(uint64_t)(product >> 64), (uint64_t)product};
}
#else
static inline struct wide wide_product(uint64_t a, uint64_t b)
{
	uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
	uint64_t low = a_low * b_low, cross = a_high * b_low, middle = a_low * b_high;
	/* At most (2^32 - 1)^2 + 2 * (2^32 - 1), which is 2^64 - 1, so it cannot overflow. */
	middle += (low >> 32) + (uint32_t)cross;
	return (struct wide){a_high * b_high + (cross >> 32) + (middle >> 32),
			     middle << 32 | (uint32_t)low};
}
#endif

/* Adds with saturation: a sum that does not fit is the greatest number. */
static inline struct wide wide_add(struct wide a, struct wide b)
{
	struct wide sum;
	uint64_t carry = __builtin_add_overflow(a.low, b.low, &sum.low);
	if (__builtin_add_overflow(a.high, b.high, &sum.high) ||
	    __builtin_add_overflow(sum.high, carry, &sum.high))
		return (struct wide){UINT64_MAX, UINT64_MAX};
	return sum;
}

static inline double wide_double(struct wide wide)
{
	return (double)wide.high * 0x1p64 + (double)wide.low;
}
