/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes of the rings for samples. Pure functions. */
#pragma once

#include <sprof/capture.h>
#include <stddef.h>
#include <stdint.h>

struct ring_demand {
	uint64_t sample_bytes;  /* size of a usual sample */
	uint64_t largest_bytes; /* size of temporary samples with larger stack copies; may be 0 */
	uint64_t least_bytes;   /* size of a ring, if memory permits: 0 or a power of two */
	uint64_t freq_hz;       /* samples a second; 0: not known */
	size_t cpus;
	uint64_t memory_bytes;  /* the machine's memory; 0: unknown */
};

/* Bytes of a usual sample; with DWARF, `stack_bytes` are copied of each stack. */
uint64_t ring_size_sample(enum sp_call_graph kind, uint32_t stack_bytes);

/* Most bytes for each CPU, as 1 % of the machine's memory permits. `memory_bytes` 0: unknown. */
uint64_t ring_size_most(uint64_t memory_bytes, size_t cpus);

/*
 * Bytes for each CPU, a power of two: 200 ms of the demand, at most 16 MiB, and for all CPUs at most
 * 1 % of the memory. rights_fit_rings() applies the limits on locked memory.
 */
uint64_t ring_size_default(const struct ring_demand *demand);

/*
 * Bytes for each CPU that hold the samples of the last `window_ns`: a power of two, at most 64 MiB, and
 * at most 2 GiB for all CPUs. 0: there is no window, or the rate is unknown.
 */
uint64_t ring_size_window(uint64_t window_ns, const struct ring_demand *demand);

/* Returns how far a busy CPU's ring of that size reaches back. */
uint64_t ring_size_reach_ns(uint64_t ring_bytes, uint64_t freq_hz, uint64_t sample_bytes);

/* Less than that does not hold two samples with a copy of that size. */
uint64_t ring_size_least(uint32_t stack_bytes);

/* Bytes in a ring of that size that wake its reader. */
uint32_t ring_size_watermark(uint64_t ring_bytes);
