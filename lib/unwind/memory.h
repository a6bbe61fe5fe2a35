/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The copy of a stack, and why a word may not be in it. */
#ifndef UNWIND_MEMORY_H
#define UNWIND_MEMORY_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct stack_copy {
	const uint8_t *bytes;
	uint64_t low;  /* address of the first byte */
	uint64_t size;
};

/* Farther above the copy no stack goes on: the address is wrong, and not the copy too short. */
#define STACK_SPAN ((uint64_t)1 << 30)

/* No kernel copies more of a stack (PERF_SAMPLE_STACK_USER). */
#define STACK_COPY_MOST ((uint64_t)1 << 16)

/* All dumps that can be unwound are little-endian. */
static inline bool stack_load(const struct stack_copy *stack, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - stack->low;
	if (__builtin_expect(stack->size < sizeof(*ret) || at > stack->size - sizeof(*ret), 0))
		return false;
	uint64_t word;
	memcpy(&word, stack->bytes + at, sizeof(word));
	*ret = le64toh(word);
	return true;
}

/* The same of 1 to 8 bytes, zero-extended. */
static inline bool stack_load_sized(const struct stack_copy *stack, uint64_t address, size_t size,
				    uint64_t *ret)
{
	uint64_t at = address - stack->low;
	if (stack->size < size || at > stack->size - size)
		return false;
	uint64_t word = 0;
	memcpy(&word, stack->bytes + at, size);
	*ret = le64toh(word);
	return true;
}

/* True if a longer copy would include an address that could not be loaded. */
static inline bool stack_could_hold(const struct stack_copy *stack, uint64_t address)
{
	return address >= stack->low && address - stack->low < stack->size + STACK_SPAN;
}

/*
 * True if `sp`, the stack pointer after a signal's frame that was in the copy, belongs to another
 * stack (sigaltstack(2)). On one stack, the signal's frame and the interrupted one are adjacent.
 */
static inline bool stack_is_another(const struct stack_copy *stack, uint64_t sp)
{
	return sp < stack->low || sp - stack->low > stack->size + STACK_COPY_MOST;
}

#endif
