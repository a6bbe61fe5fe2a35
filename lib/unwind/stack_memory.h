/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to stack memory, in a copy or by a callback, and reasons why a word may not be there. */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Callback that reads memory which a copy lacks. Returns false if it cannot. */
struct memory_source {
	bool (*read)(void *arg, uint64_t address, size_t size, void *ret);
	void *arg;
};

struct stack_copy {
	const uint8_t *bytes;
	uint64_t low;  /* address of the first byte */
	uint64_t size;
	const struct memory_source *source; /* NULL: the copy is all that can be read */
};

/* Loads 1 to 8 bytes that the copy lacks, as stack_load_sized(). */
bool stack_load_beyond(const struct stack_copy *stack, uint64_t address, size_t size, uint64_t *ret);

/*
 * Largest plausible size of a stack. An address farther above the copy is wrong; the copy is not just
 * too short.
 */
#define STACK_SPAN ((uint64_t)1 << 30)

/* Limit of the kernel for a copied stack (PERF_SAMPLE_STACK_USER). */
#define STACK_COPY_MOST ((uint64_t)1 << 16)

/*
 * Loads a word. Returns false if it cannot be read. All stacks that can be unwound are little-endian.
 */
static inline bool stack_load(const struct stack_copy *stack, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - stack->low;
	if (__builtin_expect(stack->size < sizeof(*ret) || at > stack->size - sizeof(*ret), 0))
		return stack_load_beyond(stack, address, sizeof(*ret), ret);
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
		return stack_load_beyond(stack, address, size, ret);
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
