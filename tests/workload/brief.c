/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * brief THREADS US: threads one after the other, with US microseconds of CPU time each. All do the
 * same: early_part() for two thirds, then late_part(). At the end prints "early_part SHARE", of the
 * CPU time of both.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"

typedef uint64_t work(uint64_t value, uint64_t ns);
work early_part, late_part;

/* Reading the clock is a system call, which is not the function's time: it is read rarely. */
#define PART(NAME)                                                                                 \
	__attribute__((noinline)) uint64_t NAME(uint64_t value, uint64_t ns)                       \
	{                                                                                          \
		KEEP_FRAME();                                                                      \
		uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;                          \
		while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)                                 \
			value = spin(value, 100000);                                               \
		return value;                                                                      \
	}
PART(early_part)
PART(late_part)

static uint64_t life_ns, early_ns, both_ns, result = 1;

static void *run(void *arg)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	result = early_part(result, life_ns * 2 / 3);
	early_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	result = late_part(result, life_ns / 3);
	both_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	life_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1000) * 1000;
	for (int i = 0; i < threads; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
			return 1;
	}
	printf("early_part %.4f\n", (double)early_ns / (double)both_ns);
	return result == 42;
}
