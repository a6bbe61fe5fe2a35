/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of many sizes and shapes, and ways to enter and leave functions. */
#include <alloca.h>
#include <setjmp.h>
#include <string.h>
#include "stacks.h"

/* Keeps a local in memory without touching it. */
#define IN_MEMORY(local) __asm__ volatile("" : : "r"(local) : "memory")

/* A leaf with 20 KB of locals that it never touches. */
static OWN uint64_t untouched_leaf(uint64_t value)
{
	uint64_t locals[2560];
	IN_MEMORY(locals);
	BUSY(value, 500000);
	return value;
}

static OWN uint64_t untouched_mid(uint64_t value)
{
	value = untouched_leaf(value);
	STAY();
	return value;
}

static OWN void run_untouched(void)
{
	while (!is_over())
		untouched_mid(1);
}

/* Frames of 6 KB with few used words. */
static OWN uint64_t large_leaf(uint64_t value)
{
	BUSY(value, 300000);
	return value;
}

#define LARGE(n, next)                                                                             \
	static OWN uint64_t large_##n(uint64_t value)                                              \
	{                                                                                          \
		volatile uint64_t locals[768];                                                     \
		IN_MEMORY(locals);                                                                 \
		for (size_t i = 0; i < 768; i += 64)                                               \
			locals[i] = value + i;                                                     \
		value = next(value);                                                               \
		STAY();                                                                            \
		return value + locals[64];                                                         \
	}
LARGE(5, large_leaf)
LARGE(4, large_5)
LARGE(3, large_4)
LARGE(2, large_3)
LARGE(1, large_2)
LARGE(0, large_1)

static OWN void run_large(void)
{
	while (!is_over())
		large_0(1);
}

/* Frames with a size known only at run time. */
static OWN uint64_t sized_leaf(uint64_t value)
{
	BUSY(value, 20000);
	return value;
}

static OWN uint64_t array_mid(uint64_t value, size_t size)
{
	char *array = alloca(size);
	memset(array, (int)value, size);
	IN_MEMORY(array);
	value = sized_leaf(value);
	STAY();
	return value + (uint64_t)array[size / 2];
}

static OWN uint64_t growing_mid(uint64_t value, unsigned int turns)
{
	char *last = NULL;
	for (unsigned int i = 0; i < turns; i++) {
		last = alloca(40);
		IN_MEMORY(last);
		BUSY(value, 2000);
		value = array_mid(value, 100 + i * 16);
	}
	STAY();
	return value + (last != NULL);
}

static OWN void run_alloca(void)
{
	for (unsigned int i = 1; !is_over(); i++)
		growing_mid(i, 8);
}

/* Frames that are aligned to more than the stack is, by a pointer to the arguments (DRAP). */
static OWN uint64_t aligned_leaf(uint64_t value)
{
	BUSY(value, 20000);
	return value;
}

static OWN uint64_t aligned_mid(uint64_t value, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
				uint64_t e, uint64_t f, uint64_t g, size_t size)
{
	_Alignas(64) volatile char block[128] = {(char)value};
	char *more = alloca(size);
	memset(more, 1, size);
	IN_MEMORY(block);
	BUSY(value, 5000);
	value = aligned_leaf(value);
	STAY();
	return value + (uint64_t)block[64] + (uint64_t)more[1] + a + b + c + d + e + f + g;
}

static OWN uint64_t aligned_fixed(uint64_t value)
{
	_Alignas(128) volatile char block[256] = {(char)value};
	IN_MEMORY(block);
	value = aligned_mid(value, 1, 2, 3, 4, 5, 6, 7, 200);
	STAY();
	return value + (uint64_t)block[64];
}

#ifdef __x86_64__
__attribute__((force_align_arg_pointer))
#endif
static OWN uint64_t
aligned_entry(uint64_t value)
{
	BUSY(value, 2000);
	value = aligned_fixed(value);
	STAY();
	return value;
}

static OWN void run_aligned(void)
{
	while (!is_over())
		aligned_entry(1);
}

/* A call that never returns: what it would return to is the next function. */
static jmp_buf back;

static OWN _Noreturn void never_returns(uint64_t value)
{
	BUSY(value, 100000);
	longjmp(back, 1);
}

static OWN void ends_in_a_call(uint64_t value)
{
	volatile uint64_t kept[8] = {value};
	never_returns(kept[0]);
}

static OWN void run_noreturn(void)
{
	while (!is_over())
		if (!setjmp(back))
			ends_in_a_call(2);
}

/* A jump instead of a call: the function that jumped is gone. */
static OWN uint64_t tail_last(uint64_t value)
{
	BUSY(value, 50000);
	return value;
}

static OWN uint64_t tail_second(uint64_t value)
{
	BUSY(value, 25000);
	return tail_last(value);
}

static OWN uint64_t tail_first(uint64_t value)
{
	BUSY(value, 25000);
	return tail_second(value);
}

static OWN void run_tail(void)
{
	while (!is_over()) {
		tail_first(3);
		STAY();
	}
}

/* Parts of a function that were moved far from it. */
static OWN __attribute__((cold)) void unlikely(uint64_t value)
{
	BUSY(value, 20000);
	STAY();
}

static OWN uint64_t split(uint64_t value, bool never)
{
	uint64_t kept[4] = {value, value + 1};
	IN_MEMORY(kept);
	BUSY(value, 20000);
	if (__builtin_expect(!never, 0)) {
		BUSY(value, 40000);
		unlikely(value);
		BUSY(value, 5000);
	}
	STAY();
	return value + kept[1];
}

static OWN void run_split(void)
{
	while (!is_over())
		split(1, false);
}

/* Functions so short that they are mostly prologue and epilogue. */
static OWN uint64_t short_4(uint64_t value)
{
	return value * 3;
}

#define SHORT(n, next)                                                                             \
	static OWN uint64_t short_##n(uint64_t value)                                              \
	{                                                                                          \
		uint64_t a = value + n, b = value ^ n, c = value << 1, d = value >> 1, e = ~value; \
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));                \
		value = next(value);                                                               \
		STAY();                                                                            \
		return value + a + b + c + d + e;                                                  \
	}
SHORT(3, short_4)
SHORT(2, short_3)
SHORT(1, short_2)
SHORT(0, short_1)

static OWN void run_short(void)
{
	while (!is_over())
		for (unsigned int i = 0; i < 100000; i++) {
			short_0(i);
			STAY();
		}
}

const struct scenario frame_scenarios[] = {
	{.name = "untouched",
	 .run = run_untouched,
	 .truth = "main run_untouched untouched_mid untouched_leaf"},
	{.name = "large",
	 .run = run_large,
	 .truth = "main run_large large_0 large_1 large_2 large_3 large_4 large_5 large_leaf"},
	{.name = "alloca",
	 .run = run_alloca,
	 .truth = "main run_alloca growing_mid array_mid sized_leaf"},
	{.name = "aligned",
	 .run = run_aligned,
	 .truth = "main run_aligned aligned_entry aligned_fixed aligned_mid aligned_leaf"},
	{.name = "noreturn",
	 .run = run_noreturn,
	 .truth = "main run_noreturn ends_in_a_call! never_returns"},
	{.name = "tail",
	 .run = run_tail,
	 .truth = "main run_tail tail_first!\nmain run_tail tail_second!\n"
		  "main run_tail tail_last!"},
	{.name = "split", .run = run_split, .truth = "main run_split split! unlikely!"},
	{.name = "short",
	 .run = run_short,
	 .truth = "main run_short short_0! short_1! short_2! short_3! short_4!"},
	{0},
};
