/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/stack_memory.h"

bool stack_load_beyond(const struct stack_copy *stack, uint64_t address, size_t size, uint64_t *ret)
{
	uint64_t word = 0;
	if (!stack->source || size > UINT64_MAX - address ||
	    !stack->source->read(stack->source->arg, address, size, &word))
		return false;
	*ret = le64toh(word);
	return true;
}
