/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registers of an architecture: perf's numbers, DWARF's columns, and which of them a function
 * preserves.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ARCH_COLUMNS 33   /* Number of registers that are tracked; arm64 has the most. */
#define ARCH_SLOTS 12     /* number of columns for which a compact row has room */
#define ARCH_PERF_COUNT 34 /* limit of perf's register numbers */
#define ARCH_NONE 0xff

struct unwind_arch {
	const char *name;
	uint16_t machine; /* EM_* of ELF files */
	uint8_t word;     /* size of a register on the stack, in bytes */
	uint8_t columns;
	uint8_t sp, fp, ra; /* columns of the stack pointer, frame pointer and return address */
	uint8_t perf_ip;
	bool ra_is_ip;    /* the column `ra` stands for the instruction pointer (x86) */
	bool calls_push;  /* a call changes the stack pointer */
	uint64_t preserved; /* bit per column: registers that a callee preserves, unless call frame
			     * information differs */
	uint64_t ip_mask; /* bits of an ip that are its address; the others may be a signature */
	uint8_t slot_count;
	uint8_t slots[ARCH_SLOTS];            /* columns that compact rows have */
	uint8_t column_of[ARCH_PERF_COUNT];   /* column of perf's register number; ARCH_NONE: not tracked */
};

/*
 * Returns the architecture of a recording (feature ARCH, as printed by uname -m) and of the ABI of a
 * sample's registers (PERF_SAMPLE_REGS_ABI_*). NULL: unknown.
 */
const struct unwind_arch *arch_find(const char *name, uint64_t abi);

/* Returns the architecture of an ELF file's machine; NULL: unknown. */
const struct unwind_arch *arch_of_machine(uint16_t machine);
