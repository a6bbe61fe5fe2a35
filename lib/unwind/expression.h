/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DWARF expressions, as call frame information has them: over registers and the copy
 * of the stack alone. Their bytes are untrusted: what they may cost is limited.
 */
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include "unwind/arch.h"
#include "unwind/memory.h"

/* Registers of a frame, by column. */
struct frame_registers {
	uint64_t values[ARCH_COLUMNS];
	uint64_t known; /* bit per column */
};

static inline bool register_known(const struct frame_registers *registers, unsigned int column)
{
	return column < ARCH_COLUMNS && registers->known >> column & 1;
}

enum expression_end {
	EXPRESSION_OK,
	EXPRESSION_MISSING, /* it reads an address (*address_ret) that is not in the copy */
	EXPRESSION_UNKNOWN, /* it needs a register of which nothing is known */
	EXPRESSION_BAD,     /* it is damaged, too costly, or of a kind that has no place here */
};

/*
 * `initial` is pushed first (the CFA, for the rules of registers), unless NULL. The
 * value is left in *ret.
 */
enum expression_end expression_evaluate(const struct unwind_arch *arch, const uint8_t *bytes,
					size_t size, const struct frame_registers *registers,
					const struct stack_copy *stack, const uint64_t *initial,
					uint64_t *ret, uint64_t *address_ret);

#endif
