/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deep DEPTH SECONDS|xTIMES [FANOUT [THREADS]]: burns CPU time at the bottom of
 * DEPTH calls of ten functions, level_0() to level_9(), with frame pointers, for
 * SECONDS of CPU time, or just TIMES descents of about 0.1 ms. With FANOUT each
 * descent takes one of that many sets of turns, so that as many different stacks
 * arise. With THREADS as many do all this at the same time. Prints
 * "CPU_NS WALL_NS" of the whole process.
 */
#include <pthread.h>
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
		value = spin(turns, 60000);
	} else {
		uint64_t next = turns * 6364136223846793005u + depth;
		value = levels[(next >> 33) % 10](next, depth - 1);
	}
	__asm__ volatile("" : "+r"(value));
	return value;
}

#define LEVEL(n)                                                                                   \
	static __attribute__((noinline)) uint64_t level_##n(uint64_t turns,               \
								     unsigned int depth)           \
	{                                                                                          \
		return descend(turns + n, depth);                                                  \
	}
LEVEL(0) LEVEL(1) LEVEL(2) LEVEL(3) LEVEL(4) LEVEL(5) LEVEL(6) LEVEL(7) LEVEL(8) LEVEL(9)

static struct {
	unsigned int depth;
	uint64_t times, end_ns, fanout;
} work;

static void *descents(void *argument)
{
	uint64_t value = 0;
	for (uint64_t i = 0; i < work.times; i++) {
		value += level_0(i % work.fanout * 2654435761u, work.depth);
		if (clock_ns(CLOCK_THREAD_CPUTIME_ID) >= work.end_ns)
			break;
	}
	return value == 42 ? argument : NULL;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: deep DEPTH SECONDS|xTIMES [FANOUT [THREADS]]\n");
		return 2;
	}
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	bool counted = argv[2][0] == 'x';
	work.depth = (unsigned int)atoi(argv[1]);
	work.times = counted ? (uint64_t)atoll(argv[2] + 1) : UINT64_MAX;
	work.end_ns = counted ? UINT64_MAX : (uint64_t)(atof(argv[2]) * 1e9);
	work.fanout = argc > 3 ? (uint64_t)atoi(argv[3]) : 1;
	for (int more = argc > 4 ? atoi(argv[4]) - 1 : 0; more > 0; more--) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, descents, NULL)) {
			perror("deep: pthread_create");
			return 1;
		}
	}
	descents(NULL);
	printf("%llu %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - begin_ns));
	return 0;
}
