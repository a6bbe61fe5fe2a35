/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much room the samples of a CPU get before the drain comes. Pure. */
#ifndef CAPTURE_RING_SIZE_H
#define CAPTURE_RING_SIZE_H

#include <stddef.h>
#include <stdint.h>

struct ring_demand {
	uint32_t stack_bytes; /* of each sample; 0: no copies of stacks */
	uint32_t stack_most;  /* of samples that need it, for a while; may be less */
	uint64_t freq_hz;     /* samples a second; 0: not known */
	size_t cpus;
};

/* Bytes for each CPU, a power of two: as long as they may be locked. */
uint64_t ring_size_default(const struct ring_demand *demand);

/* Less than that does not hold two samples with a copy of that size. */
uint64_t ring_size_least(uint32_t stack_bytes);

/* With copies of stacks: the bytes in a ring of that size at which the drain is woken. */
uint32_t ring_size_watermark(uint64_t ring_bytes);

#endif
