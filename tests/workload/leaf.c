/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaf SECONDS: main calls outer, that calls middle, that calls leaf, where all the time goes: a
 * function that calls nothing, and so needs no frame of its own. Nothing else runs for long.
 */
#include <stdlib.h>
#include "clock.h"

#define NOINLINE __attribute__((noinline))

#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#define FRAMELESS NOINLINE __attribute__((target("omit-leaf-frame-pointer")))
#else
#define FRAMELESS NOINLINE
#endif

/* With return addresses that are signed, as distributions of arm64 build. */
#if defined(SIGNED) && defined(__aarch64__) && !defined(__clang__)
#pragma GCC target("branch-protection=pac-ret+leaf")
#endif

static volatile unsigned int sink, rounds = 400000;

static FRAMELESS unsigned int leaf(unsigned int count)
{
	return (unsigned int)spin(count, count);
}

static NOINLINE unsigned int middle(unsigned int count)
{
	unsigned int sum = leaf(count);
	__asm__ volatile("" : "+r"(sum)); /* no jump in place of the call */
	return sum;
}

static NOINLINE unsigned int outer(unsigned int count)
{
	unsigned int sum = middle(count);
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	uint64_t end = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(seconds * 1e9);
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		sink += outer(rounds);
	return 0;
}
