/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conversion of CPU ticks as in linux/perf_event.h, struct perf_event_mmap_page. */
#pragma once

#include <stdint.h>

/*
 * Returns ticks * mult >> shift. Exact if mult has 32 bits and shift is at most 32, as the kernel's
 * are.
 */
static inline uint64_t ticks_scale(uint64_t ticks, uint64_t mult, uint64_t shift)
{
	uint64_t whole = ticks >> (shift & 63), rest = ticks & ((UINT64_C(1) << (shift & 63)) - 1);
	return whole * mult + (rest * mult >> (shift & 63));
}

/* Extends a counter that only has the bits of `mask` to 64 bits. `from` is a recent full value. */
static inline uint64_t ticks_widen(uint64_t ticks, uint64_t from, uint64_t mask)
{
	return from + ((ticks - from) & mask);
}
