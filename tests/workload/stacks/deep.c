/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recursion: 240 functions that call one another, and ten that do so 1,000 and 10,000 times. */
#include <stdio.h>
#include "stacks.h"

typedef uint64_t descent(uint64_t value, unsigned int deepest);
extern descent *const levels[];
enum { LEVELS = 240 };

/* A frame of about 64 bytes; busy where it is the deepest. */
#define LEVEL(n)                                                                                   \
	static OWN uint64_t level_##n(uint64_t value, unsigned int deepest)                        \
	{                                                                                          \
		volatile uint64_t kept[4] = {value, deepest};                                      \
		if (1##n - 1000 >= deepest)                                                        \
			BUSY(value, 200000);                                                       \
		else                                                                               \
			value = levels[1##n - 1000 + 1](value, deepest);                           \
		STAY();                                                                            \
		return value + kept[0];                                                            \
	}
#define ENTRY(n) level_##n,
#define TEN(of, t)                                                                                 \
	of(t##0) of(t##1) of(t##2) of(t##3) of(t##4) of(t##5) of(t##6) of(t##7) of(t##8) of(t##9)
#define HUNDRED(of, h)                                                                             \
	TEN(of, h##0)                                                                              \
	TEN(of, h##1)                                                                              \
	TEN(of, h##2)                                                                              \
	TEN(of, h##3)                                                                              \
	TEN(of, h##4) TEN(of, h##5) TEN(of, h##6) TEN(of, h##7) TEN(of, h##8) TEN(of, h##9)
#define ALL(of) HUNDRED(of, 0) HUNDRED(of, 1) TEN(of, 20) TEN(of, 21) TEN(of, 22) TEN(of, 23)

ALL(LEVEL)
descent *const levels[] = {ALL(ENTRY)};

/* Nine of ten times at the bottom. */
static OWN void run_deep240(void)
{
	for (uint64_t i = 1; !is_over(); i++)
		level_000(i, i % 10 ? LEVELS - 1 : (unsigned int)(i * 7 % LEVELS));
}

static OWN void run_deep60(void)
{
	while (!is_over())
		level_000(1, 59);
}

static void levels_truth(const char *run, unsigned int count)
{
	printf("main %s", run);
	for (unsigned int i = 0; i < count; i++)
		printf(" level_%03u", i);
	printf("\n");
}

static void truth_240(void)
{
	levels_truth("run_deep240", LEVELS);
}

static void truth_60(void)
{
	levels_truth("run_deep60", 60);
}

typedef uint64_t bottom(uint64_t value);
struct way {
	unsigned int left;
	bottom *to;
};
typedef uint64_t turn(uint64_t value, struct way way);
extern turn *const turns[];

/* The depth at which each is called is in its name. */
#define BOTTOM(depth)                                                                              \
	static OWN uint64_t bottom_##depth(uint64_t value)                                         \
	{                                                                                          \
		BUSY(value, 1000000);                                                              \
		return value;                                                                      \
	}
BOTTOM(250)
BOTTOM(500)
BOTTOM(1000)
BOTTOM(5000)
BOTTOM(10000)

#define TURN(n)                                                                                    \
	static OWN uint64_t turn_##n(uint64_t value, struct way way)                               \
	{                                                                                          \
		volatile uint64_t kept = value;                                                    \
		if (way.left == 1)                                                                 \
			value = way.to(value);                                                     \
		else                                                                               \
			value = turns[(n + 1) % 10](value, (struct way){way.left - 1, way.to});    \
		STAY();                                                                            \
		return value + kept;                                                               \
	}
TURN(0)
TURN(1)
TURN(2)
TURN(3)
TURN(4) TURN(5) TURN(6) TURN(7) TURN(8) TURN(9) turn *const turns[] = {
	turn_0, turn_1, turn_2, turn_3, turn_4, turn_5, turn_6, turn_7, turn_8, turn_9};

static OWN void run_deep1000(void)
{
	for (uint64_t i = 0; !is_over(); i++) {
		turn_0(i, (struct way){250, bottom_250});
		turn_0(i, (struct way){500, bottom_500});
		turn_0(i, (struct way){1000, bottom_1000});
	}
}

static OWN void run_deep10000(void)
{
	for (uint64_t i = 0; !is_over(); i++) {
		turn_0(i, (struct way){5000, bottom_5000});
		turn_0(i, (struct way){10000, bottom_10000});
	}
}

static void turns_truth(const char *run, unsigned int depth)
{
	printf("main %s", run);
	for (unsigned int i = 0; i < depth; i++)
		printf(" turn_%u", i % 10);
	printf(" bottom_%u\n", depth);
}

static void truth_1000(void)
{
	turns_truth("run_deep1000", 250);
	turns_truth("run_deep1000", 500);
	turns_truth("run_deep1000", 1000);
}

static void truth_10000(void)
{
	turns_truth("run_deep10000", 5000);
	turns_truth("run_deep10000", 10000);
}

/*
 * Two ways to one recursion, with frames at the same addresses. If a copy does not reach up to
 * via_a or via_b, the positions of its frames do not identify the way. The short turns show each
 * way whole.
 */
BOTTOM(a)
BOTTOM(b)
enum { EITHER = 400 };

#define VIA(name)                                                                                  \
	static OWN uint64_t via_##name(unsigned int depth)                                         \
	{                                                                                          \
		uint64_t value = turn_0(depth, (struct way){depth, bottom_##name});                \
		STAY();                                                                            \
		return value;                                                                      \
	}
VIA(a)
VIA(b)

static OWN void run_either(void)
{
	for (unsigned int i = 0; !is_over(); i++) {
		unsigned int depth = i % 4 ? EITHER : i * 7 % EITHER + 1;
		/* Without a pattern that time alone would show. */
		if (i * 2654435761u >> 31)
			via_a(depth);
		else
			via_b(depth);
		STAY();
	}
}

static void either_truth(char way)
{
	for (unsigned int depth = 1; depth <= EITHER; depth++) {
		printf("main run_either via_%c", way);
		for (unsigned int i = 0; i < depth; i++)
			printf(" turn_%u", i % 10);
		printf(" bottom_%c\n", way);
	}
}

static void truth_either(void)
{
	either_truth('a');
	either_truth('b');
}

const struct scenario deep_scenarios[] = {
	{.name = "deep60", .run = run_deep60, .print_truth = truth_60},
	{.name = "deep240", .run = run_deep240, .print_truth = truth_240},
	{.name = "either", .run = run_either, .print_truth = truth_either},
	{.name = "deep1000", .run = run_deep1000, .print_truth = truth_1000},
	{.name = "deep10000", .run = run_deep10000, .print_truth = truth_10000},
	{0},
};
