/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Evaluates DWARF expressions of call frame information. They use only registers and the stack copy.
 * Their bytes are untrusted, so their cost is limited.
 */
#pragma once

#include "unwind/arch.h"
#include "unwind/stack_memory.h"

/* Registers of a frame, by column. */
struct frame_registers {
	uint64_t values[ARCH_COLUMNS];
	uint64_t known; /* bit per column: the register is known */
};

static inline bool register_known(const struct frame_registers *registers, unsigned int column)
{
	return column < ARCH_COLUMNS && registers->known >> column & 1;
}

enum expression_end {
	EXPRESSION_OK,
	EXPRESSION_MISSING, /* it reads an address (*address_ret) that the stack copy lacks */
	EXPRESSION_UNKNOWN, /* it reads a register that is unknown */
	EXPRESSION_BAD,     /* it is damaged, too expensive, or uses an operation that makes no sense here */
};

/*
 * Evaluates an expression. Unless `initial` is NULL, its value is pushed first (the CFA, for rules of
 * registers). *ret is the result.
 */
enum expression_end expression_evaluate(const struct unwind_arch *arch, const uint8_t *bytes,
					size_t size, const struct frame_registers *registers,
					const struct stack_copy *stack, const uint64_t *initial,
					uint64_t *ret, uint64_t *address_ret);
