/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/ring_size.h"

/*
 * Other tasks may delay the reader that long: on a busy machine, room for 50 ms was too little at
 * 20,000 Hz. Rings of 2 to 16 MiB are equally fast, but each MiB takes 0.3 ms to make.
 */
#define HOLD_MS 200
#define HOLD_LARGE_MS 50
#define PLAIN_MIN (UINT64_C(512) << 10)
#define DUMPS_MIN (UINT64_C(2) << 20)
#define RING_MAX (UINT64_C(16) << 20)
#define RING_MIN (UINT64_C(4) << 10)

/* Rings that hold a window. */
#define WINDOW_MAX (UINT64_C(64) << 20)
#define WINDOW_MIN (UINT64_C(64) << 10)
#define WINDOW_ALL_MAX (UINT64_C(2) << 30)

/* All rings together may take this share of the machine's memory, which cannot be swapped. */
#define MEMORY_SHARE 100

/* A usual sample: fixed fields, a call chain of 50 addresses, and 32 branches. */
#define FIELDS_BYTES 80
#define CHAIN_BYTES 400
#define BRANCHES_BYTES (8 + 32 * 24)

/* Registers, chain and the rest of a sample with a copy of the stack. */
#define BESIDE_STACK 512

/* A reader that is woken by a ring half full may find it full. */
#define WATERMARK_SHARE 4
/* Limits the delay until stacks are unwound, which shows how much of them must be copied. */
#define WATERMARK_MAX (UINT64_C(256) << 10)

uint64_t ring_size_sample(enum sp_call_graph kind, uint32_t stack_bytes)
{
	switch (kind) {
	case SP_CALL_GRAPH_DWARF:
		return BESIDE_STACK + (uint64_t)stack_bytes;
	case SP_CALL_GRAPH_LBR:
		return FIELDS_BYTES + CHAIN_BYTES + BRANCHES_BYTES;
	case SP_CALL_GRAPH_NONE:
		return FIELDS_BYTES;
	default:
		return FIELDS_BYTES + CHAIN_BYTES;
	}
}

uint64_t ring_size_most(uint64_t memory_bytes, size_t cpus)
{
	return memory_bytes ? memory_bytes / MEMORY_SHARE / (cpus ?: 1) : UINT64_MAX;
}

uint64_t ring_size_default(const struct ring_demand *demand)
{
	uint64_t hz = demand->freq_hz < 1000000 ? demand->freq_hz : 1000000;
	uint64_t need = hz * HOLD_MS * demand->sample_bytes / 1000;
	uint64_t large = hz * HOLD_LARGE_MS * demand->largest_bytes / 1000;
	uint64_t bytes = demand->sample_bytes > BESIDE_STACK + BRANCHES_BYTES ? DUMPS_MIN : PLAIN_MIN;
	while (bytes < (need > large ? need : large) && bytes < RING_MAX)
		bytes *= 2;
	if (bytes < demand->least_bytes)
		bytes = demand->least_bytes;
	uint64_t most = ring_size_most(demand->memory_bytes, demand->cpus);
	while (bytes > most && bytes > RING_MIN)
		bytes /= 2;
	return bytes;
}

uint64_t ring_size_window(uint64_t window_ns, const struct ring_demand *demand)
{
	double wanted = (double)window_ns / 1e9 * (double)demand->freq_hz * (double)demand->sample_bytes;
	uint64_t bytes = WINDOW_MIN;
	if (!window_ns || !demand->freq_hz)
		return 0;
	while ((double)bytes < wanted && bytes < WINDOW_MAX && bytes * 2 * demand->cpus <= WINDOW_ALL_MAX)
		bytes *= 2;
	return bytes;
}

uint64_t ring_size_reach_ns(uint64_t ring_bytes, uint64_t freq_hz, uint64_t sample_bytes)
{
	return (double)ring_bytes / (double)sample_bytes / (double)freq_hz * 1e9;
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
