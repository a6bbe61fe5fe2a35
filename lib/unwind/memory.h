/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to a stack copy, and reasons why a word may not be in it. */
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

/*
 * Largest plausible size of a stack. An address farther above the copy is wrong; the copy is not just
 * too short.
 */
#define STACK_SPAN ((uint64_t)1 << 30)

/* Limit of the kernel for a copied stack (PERF_SAMPLE_STACK_USER). */
#define STACK_COPY_MOST ((uint64_t)1 << 16)

/*
 * Loads a word. Returns false if the copy lacks it. All copies that can be unwound are little-endian.
 */
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

/* Loads 1 to 8 bytes, zero-extended. */
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

/* Returns whether a larger copy would include an address that could not be loaded. */
static inline bool stack_could_hold(const struct stack_copy *stack, uint64_t address)
{
	return address >= stack->low && address - stack->low < stack->size + STACK_SPAN;
}

/*
 * Returns whether `sp`, the stack pointer of the frame that a signal interrupted, belongs to another stack
 * (sigaltstack(2)). On one stack, the signal frame is adjacent to the interrupted frame.
 */
static inline bool stack_is_another(const struct stack_copy *stack, uint64_t sp)
{
	return sp < stack->low || sp - stack->low > stack->size + STACK_COPY_MOST;
}

#endif
