/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registers of an architecture: perf's numbers for them, DWARF's columns, and
 * which a function gives back as it found them.
 */
#ifndef UNWIND_ARCH_H
#define UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#define ARCH_COLUMNS 33   /* Number of registers that are followed; arm64 has the most. */
#define ARCH_SLOTS 12     /* columns that a compact row has room for */
#define ARCH_PERF_COUNT 34 /* perf's numbers, below */
#define ARCH_NONE 0xff

struct unwind_arch {
	const char *name;
	uint16_t machine; /* EM_* */
	uint8_t word;     /* bytes of a register on the stack */
	uint8_t columns;
	uint8_t sp, fp, ra; /* columns; ra: where the return address is said to be */
	uint8_t perf_ip;
	bool ra_is_ip;    /* the ra column stands for the instruction pointer (x86) */
	bool calls_push;  /* a call moves the stack pointer */
	uint64_t preserved; /* bit per column: what a callee gives back unless it says otherwise */
	uint64_t ip_mask; /* address bits of an ip; the other bits are its signature */
	uint8_t slot_count;
	uint8_t slots[ARCH_SLOTS];            /* columns that compact rows hold */
	uint8_t column_of[ARCH_PERF_COUNT];   /* column of perf's register number; ARCH_NONE: not followed */
};

/*
 * For a recording's architecture (feature ARCH, or what uname -m says) and the ABI of a
 * sample's registers (PERF_SAMPLE_REGS_ABI_*). NULL: not known.
 */
const struct unwind_arch *arch_find(const char *name, uint64_t abi);

/* For an ELF file's machine. NULL: not known. */
const struct unwind_arch *arch_of_machine(uint16_t machine);

#endif
