/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * phases [SCALE]: one thread with known phases, each in a function of its name:
 *
 *	burn_first    1 s on a CPU
 *	sleep_long    2 s asleep
 *	burn_second   1 s on a CPU
 *	sleep_short   1 s asleep
 *	pulse         200 times: 0.5 ms on a CPU, then 4.5 ms asleep
 *
 * SCALE (1) multiplies the first four times, and the number of pulses. Each phase prints a line:
 *
 *	PHASE BEGIN_NS END_NS
 *
 * in CLOCK_MONOTONIC. Burning ends by that clock, and so includes time in which the thread waits
 * for a CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"

#define NOINLINE __attribute__((noinline))
#define STEPS 2000

static inline __attribute__((always_inline)) void burn(uint64_t ns)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + ns;
	while (clock_ns(CLOCK_MONOTONIC) < end_ns)
		spin(1, STEPS);
}

static inline __attribute__((always_inline)) void nap(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	nanosleep(&time, NULL);
}

static NOINLINE void burn_first(double scale)
{
	burn((uint64_t)(1e9 * scale));
}

static NOINLINE void sleep_long(double scale)
{
	nap((uint64_t)(2e9 * scale));
}

static NOINLINE void burn_second(double scale)
{
	burn((uint64_t)(1e9 * scale));
}

static NOINLINE void sleep_short(double scale)
{
	nap((uint64_t)(1e9 * scale));
}

static NOINLINE void pulse(double scale)
{
	for (int left = (int)(200 * scale); left > 0; left--) {
		burn(500000);
		nap(4500000);
	}
}

static const struct phase {
	const char *name;
	void (*run)(double scale);
} phases[] = {
	{"burn_first", burn_first},   {"sleep_long", sleep_long}, {"burn_second", burn_second},
	{"sleep_short", sleep_short}, {"pulse", pulse},
};

#define PHASES (sizeof(phases) / sizeof(phases[0]))

int main(int argc, char **argv)
{
	uint64_t at_ns[PHASES + 1];
	double scale = argc > 1 ? atof(argv[1]) : 1;
	if (!(scale > 0)) {
		fprintf(stderr, "usage: phases [SCALE]\n");
		return 2;
	}
	at_ns[0] = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < PHASES; i++) {
		phases[i].run(scale);
		at_ns[i + 1] = clock_ns(CLOCK_MONOTONIC);
	}
	for (size_t i = 0; i < PHASES; i++)
		printf("%s %llu %llu\n", phases[i].name, (unsigned long long)at_ns[i],
		       (unsigned long long)at_ns[i + 1]);
	return 0;
}
