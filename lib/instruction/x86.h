/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lengths of x86's instructions, by the opcode maps of Intel's and AMD's manuals. */
#ifndef INSTRUCTION_X86_H
#define INSTRUCTION_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0: none, or not all of it is within `size`. */
size_t x86_length(bool is_64bit, const uint8_t *code, size_t size);

/* It has no condition and does not go on behind itself. */
bool x86_leaves(bool is_64bit, const uint8_t *code, size_t size);

#endif
