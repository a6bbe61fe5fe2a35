/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machine instructions: how long they are, and, where a library is at hand, their text. */
#ifndef SPROF_PRIVATE_INSTRUCTION_H
#define SPROF_PRIVATE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No instruction is longer, on any machine. */
#define SP_INSTRUCTION_MAX 15

/*
 * How many bytes the instruction at the begin of `code` takes on a machine (ELF's EM_*); 0 where
 * it is none, does not end within `size`, or is of a machine that is not known. What a processor
 * refuses may have a length, too.
 */
SP_API size_t sp_instruction_length(uint16_t machine, const uint8_t *code, size_t size);

/* Whether it always goes elsewhere: a jump, call, return or the like that has no condition (x86). */
SP_API bool sp_instruction_leaves(uint16_t machine, const uint8_t *code, size_t size);

struct sp_disassembler;

/*
 * Loads capstone. Fails with SP_ERROR_UNSUPPORTED, and what to install, where it is not there or
 * does not know the machine. For one thread.
 */
SP_API struct sp_error *sp_disassembler_new(uint16_t machine, bool big_endian,
					    struct sp_disassembler **ret) SP_MUST_CHECK;
SP_API void sp_disassembler_free(struct sp_disassembler *disassembler);

/*
 * The text of the instruction that is at `ip` ("addq $1, %rax"; what it refers to is an address),
 * and its length; NULL, and 0, where it is none that the library knows. Valid until the next call.
 */
SP_API const char *sp_disassembler_text(struct sp_disassembler *disassembler, uint64_t ip,
					const uint8_t *code, size_t size, size_t *length_ret);

#ifdef __cplusplus
}
#endif
#endif
