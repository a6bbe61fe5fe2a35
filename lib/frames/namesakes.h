/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the functions that share a name with sampled ones, but have no samples. They take part in
 * the choice of shown names, which are so the same for all samples and for some of them.
 */
#pragma once

#include "frames/names.h"

struct frame_namesakes {
	VEC(struct frame); /* one for each symbol, or for a place where functions are inlined */
	struct line_places places; /* places of some frames; `number`: index of the frame */
};

/*
 * Finds the functions that share a name with a frame's symbol, or with a function that is inlined
 * at one of `places`: the source places of the frames. `lines`: source lines of inlined namesakes
 * are needed, too. Reads debug information by up to `threads` threads. *ret is zeroed before;
 * release it after an error, too.
 */
struct sp_error *frame_namesakes_find(const struct names *names, const struct line_places *places,
				      bool lines, unsigned int threads,
				      struct frame_namesakes *ret) SP_MUST_CHECK;
void frame_namesakes_deinit(struct frame_namesakes *namesakes);
