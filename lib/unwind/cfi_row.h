/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row of call frame information: how to find the caller's registers from one address of code. */
#pragma once

#include "elf/cfi.h"
#include "unwind/arch.h"

enum cfi_rule_kind {
	RULE_NONE,      /* no rule: the ABI's applies */
	RULE_UNDEFINED,
	RULE_SAME,
	RULE_AT,        /* saved at CFA + offset */
	RULE_IS,        /* equals CFA + offset; for the CFA itself: register + offset */
	RULE_REGISTER,  /* is in another register */
	RULE_EXPRESSION_AT, /* saved at the address that the expression computes */
	RULE_EXPRESSION_IS,
};

struct cfi_rule {
	uint8_t kind;
	uint8_t column;    /* for RULE_REGISTER, and for the CFA's RULE_IS */
	uint16_t unused;
	uint32_t size;     /* size of the expression in bytes */
	union {
		int64_t offset;
		const uint8_t *expression; /* expression, within the section's bytes */
	};
};

static inline struct cfi_rule rule_at(int64_t offset)
{
	return (struct cfi_rule){.kind = RULE_AT, .offset = offset};
}

struct cfi_row {
	struct cfi_rule cfa; /* its kind is RULE_IS or RULE_EXPRESSION_IS */
	struct cfi_rule rules[ARCH_COLUMNS];
	uint8_t return_column;
	bool is_signal;
	bool is_go; /* made from a Go program's frame sizes */
};

/*
 * Makes the row of the code at `vaddr`, which the entry must contain. Returns false if the instructions
 * are damaged or too many, or define no CFA.
 */
bool cfi_row_make(const struct unwind_arch *arch, const struct cfi_entry *entry, uint64_t vaddr,
		  struct cfi_row *ret);

/*
 * Returns whether the entry's code sets up a frame pointer somewhere: the CFA depends on it, or, on
 * machines with calls that push nothing, it is saved. False if instructions before that are
 * damaged.
 */
bool cfi_sets_frame_pointer(const struct unwind_arch *arch, const struct cfi_entry *entry);
