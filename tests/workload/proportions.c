/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proportions [SECONDS]: burns SECONDS of CPU time (2) in functions of known
 * shares, and prints at the end what each one truly took.
 *
 *	compress   50 %   its own loop
 *	parse      25 %   its own loop
 *	render     15 %   all of it in blend(), which is inlined
 *	checksum   10 %   5 % its own, 5 % in fold(), inlined by way of mix()
 *
 * The work is dealt in slices of about 0.1 ms, in random order: samples then
 * fall on the functions independently of each other, whatever the frequency,
 * and the shares of each run are exact by what it measured itself, with the
 * thread's CPU clock around every slice, less what reading that clock takes (it
 * is a system call, and the kernel's). A line is
 *
 *	NAME INLINED SHARE CPU_NS
 *
 * INLINED is "-", or the inlined function that the part was spent in; SHARE
 * is of the whole process's CPU time. The last line is "total - 1 CPU_NS".
 */
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"

#define STEPS 60000 /* steps of a slice; a step is about 1.5 ns */

#define FUNCTION __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))

/* Written out rather than by spin(), which would be an inlined function in each. */
#define OWN_LOOP(value, steps)                                                    \
	for (unsigned int i = 0; i < (steps); i++) {                              \
		(value) = (value) * 6364136223846793005u + 1442695040888963407u;  \
		__asm__ volatile("" : "+r"(value));                               \
	}

INLINED uint64_t blend(uint64_t value)
{
	OWN_LOOP(value, STEPS);
	return value;
}

INLINED uint64_t fold(uint64_t value)
{
	OWN_LOOP(value, STEPS / 2);
	return value;
}

INLINED uint64_t mix(uint64_t value)
{
	return fold(value ^ 0x5bd1e995);
}

FUNCTION uint64_t compress(uint64_t value);
FUNCTION uint64_t parse(uint64_t value);
FUNCTION uint64_t render(uint64_t value);
FUNCTION uint64_t checksum(uint64_t value);

uint64_t compress(uint64_t value)
{
	KEEP_FRAME();
	OWN_LOOP(value, STEPS);
	return value;
}

uint64_t parse(uint64_t value)
{
	KEEP_FRAME();
	OWN_LOOP(value, STEPS);
	return value;
}

uint64_t render(uint64_t value)
{
	KEEP_FRAME();
	return blend(value);
}

uint64_t checksum(uint64_t value)
{
	KEEP_FRAME();
	OWN_LOOP(value, STEPS / 2);
	return mix(value);
}

static const struct part {
	const char *name;
	uint64_t (*run)(uint64_t value);
	unsigned int percent;
	const char *inlined; /* inlined function with half or all of the time */
	double inlined_share;
} parts[] = {
	{"compress", compress, 50, NULL, 0},
	{"parse", parse, 25, NULL, 0},
	{"render", render, 15, "blend", 1},
	{"checksum", checksum, 10, "fold", 0.5},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static size_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	unsigned int drawn = (unsigned int)(*state >> 33) % 100;
	size_t i = 0;
	while (drawn >= parts[i].percent)
		drawn -= parts[i++].percent;
	return i;
}

/* Returns the CPU time of one reading of the thread's CPU clock: the median of many. */
static uint64_t clock_cost_ns(void)
{
	enum { READINGS = 999 };
	static uint64_t costs[READINGS];
	for (size_t i = 0; i < READINGS; i++) {
		uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		costs[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	}
	for (size_t i = 0; i <= READINGS / 2; i++) {
		size_t least = i;
		for (size_t j = i + 1; j < READINGS; j++)
			least = costs[j] < costs[least] ? j : least;
		uint64_t cost_ns = costs[least];
		costs[least] = costs[i];
		costs[i] = cost_ns;
	}
	return costs[READINGS / 2];
}

static void print(const char *name, const char *inlined, double ns, double total_ns)
{
	printf("%s %s %.6f %.0f\n", name, inlined, ns / total_ns, ns);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2;
	if (!(seconds > 0)) {
		fprintf(stderr, "usage: proportions [SECONDS]\n");
		return 2;
	}
	uint64_t taken_ns[PARTS] = {0};
	uint64_t state = clock_ns(CLOCK_MONOTONIC) * 2654435761u | 1;
	uint64_t value = state;
	uint64_t end_ns = (uint64_t)(seconds * 1e9);
	uint64_t cost_ns = clock_cost_ns();
	uint64_t now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (now_ns < end_ns) {
		size_t i = draw(&state);
		value = parts[i].run(value);
		uint64_t then_ns = now_ns;
		now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		taken_ns[i] += now_ns - then_ns - cost_ns;
	}
	double total_ns = (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (size_t i = 0; i < PARTS; i++) {
		double inlined_ns = parts[i].inlined_share * (double)taken_ns[i];
		if (parts[i].inlined_share < 1)
			print(parts[i].name, "-", (double)taken_ns[i] - inlined_ns, total_ns);
		if (parts[i].inlined)
			print(parts[i].name, parts[i].inlined, inlined_ns, total_ns);
	}
	print("total", "-", total_ns, total_ns);
	return value == 42; /* keeps the work */
}
