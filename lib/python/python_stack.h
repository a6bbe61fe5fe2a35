/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The Python stack of a thread. A call of the interpreter's evaluation function in C runs a group
 * of Python frames: calls from Python to Python stay in it. Each group has an object on the C
 * stack, in the evaluation function's frame: its _PyCFrame (3.11, 3.12) or its entry frame (later).
 * The object's address (`place`) relates the group to a native frame.
 *
 * A group keeps its innermost and its outermost frames: in recursion, those between are like them.
 */
#pragma once

#include "python/layout.h"

#define PYTHON_FRAMES_MAX 2048
#define PYTHON_GROUPS_MAX 64
#define PYTHON_GROUP_FRAMES_MAX 1024

struct python_frame {
	uint64_t frame; /* address of its _PyInterpreterFrame; 0: it stands for omitted frames */
	uint64_t code;  /* address of its code object */
	uint64_t instr; /* address of its last instruction that began */
	uint64_t line;  /* for the caller: its line's address in a recording; 0: unknown */
};

struct python_group {
	uint64_t place;
	uint32_t first, count; /* frames, innermost first; 0: it runs none */
};

struct python_stack {
	uint32_t frame_count, group_count;
	bool truncated; /* damage, or too many frames: the last group lacks some, and others are missing */
	struct python_group groups[PYTHON_GROUPS_MAX]; /* innermost first */
	struct python_frame frames[PYTHON_FRAMES_MAX];
};

/*
 * Finds the thread state of a thread by its number in the process's PID namespace. *thread holds an
 * address where it was before (0: none), and gets the present one. False if the thread runs no
 * Python, or, with memory->damaged, if a list of interpreters or threads cannot be read to its end.
 */
bool python_thread_find(struct python_memory *memory, const struct python_runtime *runtime,
			uint64_t number, uint64_t *thread);

/* Reads the stack of a thread state. Groups and frames up to damage are valid. */
void python_stack_read(struct python_memory *memory, const struct python_layout *layout,
		       uint64_t thread, struct python_stack *ret);
