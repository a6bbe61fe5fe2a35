/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How code at one address is left: what an entry's instructions come to. */
#ifndef UNWIND_CFI_ROW_H
#define UNWIND_CFI_ROW_H

#include "elf/cfi.h"
#include "unwind/arch.h"

enum cfi_rule_kind {
	RULE_NONE,      /* nothing is said: the ABI's rule */
	RULE_UNDEFINED,
	RULE_SAME,
	RULE_AT,        /* saved at CFA + offset */
	RULE_IS,        /* is CFA + offset; of the CFA: is register + offset */
	RULE_REGISTER,  /* is in another register */
	RULE_EXPRESSION_AT, /* saved where the expression says */
	RULE_EXPRESSION_IS,
};

struct cfi_rule {
	uint8_t kind;
	uint8_t column;    /* REGISTER; the CFA's IS */
	uint16_t unused;
	uint32_t size;     /* size of the expression */
	union {
		int64_t offset;
		const uint8_t *expression; /* in the section's bytes */
	};
};

struct cfi_row {
	struct cfi_rule cfa; /* IS or EXPRESSION_IS */
	struct cfi_rule rules[ARCH_COLUMNS];
	uint8_t return_column;
	bool is_signal;
};

/*
 * The row of the code at `vaddr`, which the entry must hold. False where its instructions
 * are damaged or absurdly many, or give no CFA.
 */
bool cfi_row_make(const struct unwind_arch *arch, const struct cfi_entry *entry, uint64_t vaddr,
		  struct cfi_row *ret);

/*
 * Whether the entry's code sets up a frame pointer somewhere: its frame is found by that, or,
 * where calls push nothing, it is saved. No where the instructions before are damaged.
 */
bool cfi_sets_frame_pointer(const struct unwind_arch *arch, const struct cfi_entry *entry);

#endif
