/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * throws SECONDS | --truth: exceptions through twelve frames with things to destroy, and
 * time spent where they are thrown, in destructors while they fly, and where they land.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include "../clock.h"

#define OWN __attribute__((noinline, noclone))
#define STAY() __asm__ volatile("" : : : "memory")

static uint64_t end_ns;

OWN static bool is_over()
{
	return clock_ns(CLOCK_MONOTONIC) >= end_ns;
}

#define BUSY(value, steps)                                                                         \
	for (unsigned int busy_i = 0; busy_i < (steps); busy_i++) {                                \
		(value) = (value) * 6364136223846793005u + 1442695040888963407u;                   \
		__asm__ volatile("" : "+r"(value));                                                \
	}

extern "C" {
OWN void destroyed_leaf(uint64_t value)
{
	BUSY(value, 1000);
	STAY();
}
}

struct guard {
	uint64_t value;
	__attribute__((always_inline)) ~guard() { destroyed_leaf(value); }
};

extern "C" {
OWN void thrower(uint64_t value)
{
	guard here{value};
	BUSY(value, 1000);
	if (value)
		throw std::runtime_error("thrown");
}

#define FLOWN(n, next)                                                                             \
	OWN void flown_##n(uint64_t value)                                                         \
	{                                                                                          \
		guard here{value};                                                                 \
		next(value + n);                                                                   \
		STAY();                                                                            \
	}
FLOWN(5, thrower)
FLOWN(4, flown_5)
FLOWN(3, flown_4)
FLOWN(2, flown_3)
FLOWN(1, flown_2)
FLOWN(0, flown_1)

OWN void landed_leaf(uint64_t value)
{
	BUSY(value, 2000);
	STAY();
}

OWN void catcher(uint64_t value)
{
	try {
		flown_0(value);
	} catch (const std::exception &caught) {
		landed_leaf(value + strlen(caught.what()));
	}
	STAY();
}

OWN void run_throws()
{
	while (!is_over())
		for (unsigned int i = 0; i < 100; i++)
			catcher(i + 1);
}
}

static void print_truth()
{
	static const char *const chain[] = {"main",    "run_throws", "catcher", "flown_0", "flown_1",
					    "flown_2", "flown_3",    "flown_4", "flown_5", "thrower"};
	puts("main run_throws catcher landed_leaf");
	for (size_t end = 3; end < sizeof(chain) / sizeof(chain[0]); end++) {
		for (size_t i = 0; i <= end; i++)
			printf("%s ", chain[i]);
		puts("destroyed_leaf!");
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: throws SECONDS | --truth\n");
		return 2;
	}
	if (!strcmp(argv[1], "--truth")) {
		print_truth();
		return 0;
	}
	end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[1]) * 1e9);
	run_throws();
	STAY();
	return 0;
}
