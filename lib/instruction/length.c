/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sprof/private/instruction.h>

#include <elf.h>
#include "instruction/x86.h"

/* In elf.h since glibc 2.36. */
#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

static size_t length_of(uint16_t machine, const uint8_t *code)
{
	switch (machine) {
	case EM_AARCH64:
	case EM_PPC64: /* prefixed ones (Power10) are two to perf and libraries, too */
	case EM_PPC:
	case EM_MIPS:
	case EM_SPARCV9:
	case EM_LOONGARCH:
		return 4;
	case EM_RISCV:
		return (code[0] & 3) == 3 ? 4 : 2;
	case EM_S390:
		return code[0] >> 6 == 0 ? 2 : code[0] >> 6 == 3 ? 6 : 4;
	default:
		return 0;
	}
}

size_t sp_instruction_length(uint16_t machine, const uint8_t *code, size_t size)
{
	if (machine == EM_X86_64 || machine == EM_386)
		return x86_length(machine == EM_X86_64, code, size);
	size_t length = size ? length_of(machine, code) : 0;
	return length <= size ? length : 0;
}

bool sp_instruction_leaves(uint16_t machine, const uint8_t *code, size_t size)
{
	return (machine == EM_X86_64 || machine == EM_386) &&
	       x86_leaves(machine == EM_X86_64, code, size);
}
