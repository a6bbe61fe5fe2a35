/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processor ticks as perf has them: linux/perf_event.h, struct perf_event_mmap_page. */
#ifndef BASE_TICKS_H
#define BASE_TICKS_H

#include <stdint.h>

/* ticks * mult >> shift; exact where mult has 32 bits, and shift is up to 32, as the kernel's are. */
static inline uint64_t ticks_scale(uint64_t ticks, uint64_t mult, uint64_t shift)
{
	uint64_t whole = ticks >> (shift & 63), rest = ticks & ((UINT64_C(1) << (shift & 63)) - 1);
	return whole * mult + (rest * mult >> (shift & 63));
}

/* All bits of a counter that has those of `mask` alone, and that was at `from` not long before. */
static inline uint64_t ticks_widen(uint64_t ticks, uint64_t from, uint64_t mask)
{
	return from + ((ticks - from) & mask);
}

#endif
