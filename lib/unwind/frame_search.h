/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches for an unknown frame pointer: in stack snapshots, only IP and SP are known. */
#pragma once

#include "unwind/stack_memory.h"
#include "unwind/unwind_rows.h"

/* A frame with an unknown frame pointer. Borrowed during the call. */
struct frame_search {
	struct rows *rows;
	const struct unwind_arch *arch;
	uint32_t view;
	const struct stack_copy *stack;
	uint64_t ip, sp;
	bool exact;  /* same as in struct unwind_frame */
	bool caller; /* the frame pointer is its caller's: it has no frame record */
};

/*
 * Finds the frame record that the frame pointer points to, at or above the stack pointer: a saved
 * frame pointer, then the address after a call. On x86-64, the size of the frame by its call frame
 * information and prologue leads to the record, unless the function uses alloca(3). Else the lowest
 * record of a call to the frame's function is preferred. Then follow the lowest record of a call to
 * an unknown function, and the lowest of a call to another function, which may have jumped to this
 * one. *sure_ret: the frame's size or the call's target identifies the record. Returns false if
 * there is none.
 */
bool frame_search_find(const struct frame_search *search, uint64_t *ret, bool *sure_ret);
