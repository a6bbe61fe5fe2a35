/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instructions of frames, with their code. */
#ifndef FRAMES_INSTRUCTION_H
#define FRAMES_INSTRUCTION_H

#include "base/arena.h"
#include "frames/names.h"

/*
 * Reads the instruction of a frame with debug information (`sourced`). `symbol` is the symbol's name or an
 * address. Without the module's file it has no code. NULL when out of memory.
 */
const struct sp_instruction *instruction_new(struct arena *arena, const struct names *names,
					     const struct frame *frame, const char *symbol);

#endif
