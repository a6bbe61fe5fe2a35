/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that connect jumps with their targets, to the left of the instructions. */
#ifndef CMD_ANNOTATE_JUMP_LANES_H
#define CMD_ANNOTATE_JUMP_LANES_H

#include <sprof/annotation.h>
#include "term.h"

/* Most lines side by side. */
#define JUMP_LANES 4

struct jump_lanes {
	struct jump_row {
		uint8_t through, top,
			bottom;	 /* bits of lanes: the line passes, begins, or ends here */
		uint8_t out, in; /* bits of lanes that begin at a jump, or end at a target */
		bool up, down;	 /* a jump without a line, and its direction */
	} * rows;		 /* by instruction */
	unsigned int count;	 /* number of lanes that are used */
};

void jump_lanes_init(struct jump_lanes *lanes, const struct sp_annotation *annotation);
void jump_lanes_deinit(struct jump_lanes *lanes);

/* Returns the number of columns that jump_lanes_put() writes. */
int jump_lanes_width(const struct jump_lanes *lanes);

/* Writes the lines of an instruction. */
void jump_lanes_put(const struct jump_lanes *lanes, size_t index, const struct term *term,
		    FILE *out);

#endif
