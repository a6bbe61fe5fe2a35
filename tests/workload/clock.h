/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions shared by workloads: CPU clocks, and a loop with steps of equal cost. */
#ifndef WORKLOAD_CLOCK_H
#define WORKLOAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * One chain of dependent multiplications: each step waits for the one before,
 * so that its cost does not depend on where the loop lies in the code. The asm
 * keeps the compiler from computing anything ahead.
 */
static inline __attribute__((always_inline)) uint64_t spin(uint64_t value, unsigned int steps)
{
	for (unsigned int i = 0; i < steps; i++) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(value));
	}
	return value;
}

/*
 * Makes the enclosing function keep a frame pointer. Compilers omit it in leaf functions; call
 * chains then lack the caller.
 */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

#endif
