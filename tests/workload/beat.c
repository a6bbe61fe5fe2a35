/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * beat SECONDS [MS]: a program on a timer of MS (1) ms. At each tick it runs early_half() and then
 * late_half() for 0.4 of that time, and sleeps until the next: each has half of the CPU time. At
 * the end prints "early_half SHARE" by the thread's CPU clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"

static uint64_t beat_ns = 1000000;

typedef uint64_t work(uint64_t value);
work early_half, late_half;

/* A function of its own each: the same body, so that both cost the same. */
#define HALF(NAME)                                                                                 \
	__attribute__((noinline)) uint64_t NAME(uint64_t value)                                    \
	{                                                                                          \
		KEEP_FRAME();                                                                      \
		uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + beat_ns * 2 / 5;                     \
		while (clock_ns(CLOCK_MONOTONIC) < end_ns)                                         \
			value = spin(value, 2000);                                                 \
		return value;                                                                      \
	}
HALF(early_half)
HALF(late_half)

static void measure(work *half, uint64_t *value, uint64_t *sum_ns)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	*value = half(*value);
	*sum_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		beat_ns = (uint64_t)(atof(argv[2]) * 1e6);
	uint64_t beats = (uint64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9 / (double)beat_ns);
	uint64_t next_ns = clock_ns(CLOCK_MONOTONIC), value = 1, early_ns = 0, late_ns = 0;
	for (uint64_t i = 0; i < beats; i++) {
		next_ns += beat_ns;
		const struct timespec next = {(time_t)(next_ns / 1000000000),
					      (long)(next_ns % 1000000000)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		measure(early_half, &value, &early_ns);
		measure(late_half, &value, &late_ns);
	}
	printf("early_half %.4f\n", (double)early_ns / (double)(early_ns + late_ns));
	return value == 42;
}
