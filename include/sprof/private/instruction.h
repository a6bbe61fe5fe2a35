/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machine instructions: their lengths, and their text if capstone is installed. */
#ifndef SPROF_PRIVATE_INSTRUCTION_H
#define SPROF_PRIVATE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Length of the longest instruction of all machines, in bytes. */
#define SP_INSTRUCTION_MAX 15

/*
 * Returns the length of the instruction at the begin of `code` for a machine (ELF's EM_*). 0: it is
 * invalid, does not end within `size`, or the machine is unknown. Some invalid ones have a length.
 */
SP_API size_t sp_instruction_length(uint16_t machine, const uint8_t *code, size_t size);

/* Returns whether it is an unconditional jump, call or return (x86). */
SP_API bool sp_instruction_leaves(uint16_t machine, const uint8_t *code, size_t size);

struct sp_disassembler;

enum sp_disassembler_flag {
	SP_DISASSEMBLER_INTEL = 1,   /* Intel's syntax of x86, instead of AT&T's */
	SP_DISASSEMBLER_TARGETS = 2, /* sp_disassembler_target() is needed, which costs time */
};

/*
 * Loads capstone. `flags` are values of enum sp_disassembler_flag. Fails with SP_ERROR_UNSUPPORTED,
 * and a remedy, if it is not installed or does not support the machine. Each thread needs an object
 * of its own.
 */
SP_API struct sp_error *sp_disassembler_new(uint16_t machine, bool big_endian, unsigned int flags,
					    struct sp_disassembler **ret) SP_MUST_CHECK;
SP_API void sp_disassembler_free(struct sp_disassembler *disassembler);

/*
 * Returns the text of the instruction at `ip` ("addq $1, %rax"), and its length. Targets are
 * addresses. NULL, and length 0: capstone does not know it. Valid until the next call.
 */
SP_API const char *sp_disassembler_text(struct sp_disassembler *disassembler, uint64_t ip,
					const uint8_t *code, size_t size, size_t *length_ret);

/*
 * Returns whether the last instruction is a jump (*call_ret: or a call) to an address that it
 * contains, and sets *ret to that address.
 */
SP_API bool sp_disassembler_target(const struct sp_disassembler *disassembler, bool *call_ret,
				   uint64_t *ret);

#ifdef __cplusplus
}
#endif
#endif
