/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_size.h"

/* Samples without copies of stacks: seconds of them. */
#define PLAIN_BYTES (UINT64_C(512) << 10)

/*
 * With copies a busy machine that lets the drain wait for 50 ms, as others' turns come first,
 * costs samples that have no room meanwhile. Rings of 2 to 16 MiB are equally fast, but each
 * MiB takes 0.3 ms to make.
 */
#define STACKS_MS 80
#define LARGE_STACKS_MS 50
#define DUMPS_MIN (UINT64_C(2) << 20)
#define DUMPS_MAX (UINT64_C(8) << 20)
#define DUMPS_ALL_CPUS (UINT64_C(128) << 20)

/* Registers, chain and the rest of a sample. */
#define BESIDE_STACK 512

/* Who is woken by a ring that is half full may find it full. */
#define WATERMARK_SHARE 4
/* What stacks need is known only when they have been unwound: not to be late. */
#define WATERMARK_MAX (UINT64_C(256) << 10)

static uint64_t bytes_in(uint64_t ms, uint64_t hz, uint32_t stack_bytes)
{
	return hz * ms * (stack_bytes + BESIDE_STACK) / 1000;
}

uint64_t ring_size_default(const struct ring_demand *demand)
{
	if (!demand->stack_bytes)
		return PLAIN_BYTES;
	uint64_t hz = demand->freq_hz < 1000000 ? demand->freq_hz : 1000000;
	uint64_t need = bytes_in(STACKS_MS, hz, demand->stack_bytes);
	uint64_t large = bytes_in(LARGE_STACKS_MS, hz, demand->stack_most);
	uint64_t most = DUMPS_ALL_CPUS / (demand->cpus ? demand->cpus : 1), bytes = DUMPS_MIN;
	while (bytes < (need > large ? need : large) && bytes < DUMPS_MAX && bytes * 2 <= most)
		bytes *= 2;
	return bytes;
}

uint64_t ring_size_least(uint32_t stack_bytes)
{
	return stack_bytes ? 2 * ((uint64_t)stack_bytes + BESIDE_STACK) : 0;
}

uint32_t ring_size_watermark(uint64_t ring_bytes)
{
	uint64_t bytes = ring_bytes / WATERMARK_SHARE;
	return (uint32_t)(bytes < WATERMARK_MAX ? bytes : WATERMARK_MAX);
}
