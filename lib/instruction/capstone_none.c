/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For a build without capstone. */
#include <sprof/private/instruction.h>

#include "base/error.h"

struct sp_error *sp_disassembler_new(uint16_t machine, bool big_endian, unsigned int flags,
				     struct sp_disassembler **ret)
{
	(void)machine, (void)big_endian, (void)flags, (void)ret;
	return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
					  "this sprof was built without a disassembler"),
				"install libcapstone-dev, and build with --with-capstone=yes");
}

void sp_disassembler_free(struct sp_disassembler *disassembler)
{
	(void)disassembler;
}

const char *sp_disassembler_text(struct sp_disassembler *disassembler, uint64_t ip,
				 const uint8_t *code, size_t size, size_t *length_ret)
{
	(void)disassembler, (void)ip, (void)code, (void)size;
	*length_ret = 0;
	return NULL;
}

bool sp_disassembler_target(const struct sp_disassembler *disassembler, bool *call_ret,
			    uint64_t *ret)
{
	(void)disassembler, (void)call_ret, (void)ret;
	return false;
}
