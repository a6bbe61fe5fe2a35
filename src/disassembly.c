/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disassembly.h"

void disassembly_deinit(struct disassembly *disassembly)
{
	sp_disassembler_free(disassembly->disassembler);
	disassembly->disassembler = NULL;
}

const char *disassembly_text(struct disassembly *disassembly, uint16_t machine, uint64_t ip,
			     struct sp_bytes code, size_t *length_ret)
{
	*length_ret = 0;
	if (disassembly->disassembler && disassembly->machine != machine)
		disassembly_deinit(disassembly);
	if (!disassembly->disassembler)
		sp_error_free(sp_disassembler_new(machine, disassembly->big_endian, 0,
						  &disassembly->disassembler));
	disassembly->machine = machine;
	if (!disassembly->disassembler)
		return NULL;
	return sp_disassembler_text(disassembly->disassembler, ip, code.bytes, code.size, length_ret);
}
