/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deep DEPTH SECONDS [FANOUT]: burns CPU time at the bottom of DEPTH calls of
 * ten functions, level_0() to level_9(), with frame pointers. With FANOUT each
 * descent takes one of that many sets of turns, so that as many different
 * stacks arise.
 */
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"

typedef uint64_t level(uint64_t turns, unsigned int depth);

static level level_0, level_1, level_2, level_3, level_4, level_5, level_6, level_7, level_8,
	level_9;
static level *const levels[] = {level_0, level_1, level_2, level_3, level_4,
				level_5, level_6, level_7, level_8, level_9};

/* The asm behind the call keeps it from becoming a jump. */
static inline __attribute__((always_inline)) uint64_t descend(uint64_t turns, unsigned int depth)
{
	uint64_t value;
	if (depth == 0) {
		value = spin(turns, 20000);
	} else {
		uint64_t next = turns * 6364136223846793005u + depth;
		value = levels[(next >> 33) % 10](next, depth - 1);
	}
	__asm__ volatile("" : "+r"(value));
	return value;
}

#define LEVEL(n)                                                                                   \
	static __attribute__((noinline, noclone)) uint64_t level_##n(uint64_t turns,               \
								     unsigned int depth)           \
	{                                                                                          \
		return descend(turns + n, depth);                                                  \
	}
LEVEL(0) LEVEL(1) LEVEL(2) LEVEL(3) LEVEL(4) LEVEL(5) LEVEL(6) LEVEL(7) LEVEL(8) LEVEL(9)

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: deep DEPTH SECONDS [FANOUT]\n");
		return 2;
	}
	unsigned int depth = (unsigned int)atoi(argv[1]);
	uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(atof(argv[2]) * 1e9);
	uint64_t fanout = argc > 3 ? (uint64_t)atoi(argv[3]) : 1;
	uint64_t value = 0;
	for (uint64_t i = 0; clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns; i++)
		value += level_0(i % fanout * 2654435761u, depth);
	return value == 42;
}
