/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/instruction.h"

const struct sp_instruction *instruction_new(struct arena *arena, const struct names *names,
					     const struct frame *frame, const char *symbol)
{
	struct sp_instruction *ret = arena_alloc(arena, sizeof(*ret));
	const struct location location = {
		.module = frame->module, .offset = frame->offset, .pid = frame->pid};
	if (!ret)
		return NULL;
	ret->offset = frame->offset;
	if (frame->symbol) {
		ret->symbol = symbol;
		ret->distance = frame->offset - frame->symbol->start;
	}
	/* Labels are made by one thread, so the resolver needs no lock. */
	if (resolver_read_code(names->symbolizer.resolver, &location, 0, SP_CODE_MAX, ret->code,
			       &ret->machine))
		ret->size = SP_CODE_MAX;
	return ret;
}
