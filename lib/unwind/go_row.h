/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of Go code, by the frame sizes in its function table. */
#pragma once

#include "unwind/heuristics.h"

enum go_row {
	GO_ROW_NONE,   /* no Go function, or its frame is unknown */
	GO_ROW_FRAME,  /* *ret is the row */
	GO_ROW_TOP,    /* the outermost function of its stack */
	GO_ROW_SWITCH, /* a function that loads the stack pointer: its callers are on another stack */
};

/* Adds the work of reading the table to *work. */
enum go_row go_row_make(const struct code_place *place, uint64_t *work, struct cfi_row *ret);
