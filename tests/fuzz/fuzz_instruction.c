/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lengths of instructions, of all machines that are known, of programs that may hold anything. */
#include <sprof/private/instruction.h>

#include <elf.h>
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64, EM_RISCV, EM_S390};
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		for (size_t at = 0; at < size;) {
			size_t length = sp_instruction_length(machines[i], data + at, size - at);
			if (length > size - at || length > SP_INSTRUCTION_MAX)
				__builtin_trap();
			if (sp_instruction_leaves(machines[i], data + at, size - at) && !length)
				__builtin_trap();
			at += length ? length : 1;
		}
	}
	return 0;
}
