/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text of instructions of any machine, by capstone if it is installed. */
#ifndef DISASSEMBLY_H
#define DISASSEMBLY_H

#include <stdbool.h>
#include <sprof/private/instruction.h>
#include <sprof/record.h>

/* A zeroed struct is ready, except for `big_endian`. For one thread. */
struct disassembly {
	struct sp_disassembler *disassembler; /* NULL: not created yet, or not available */
	uint16_t machine;
	bool big_endian; /* byte order of the recording's machine */
};

void disassembly_deinit(struct disassembly *disassembly);

/*
 * Returns the text of the instruction at `ip`, and its length. NULL and 0 without capstone, for a machine
 * that it does not know, and for bytes that are no instruction. Valid until the next call.
 */
const char *disassembly_text(struct disassembly *disassembly, uint16_t machine, uint64_t ip,
			     struct sp_bytes code, size_t *length_ret);

#endif
