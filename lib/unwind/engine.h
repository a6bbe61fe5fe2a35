/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The seam between the unwinder and those who can walk a stack. An engine is a const
 * struct at the end of its file, listed in unwind.c.
 */
#ifndef UNWIND_ENGINE_H
#define UNWIND_ENGINE_H

#include "unwind/arch.h"
#include "unwind/code.h"
#include "unwind/expression.h"
#include "unwind/unwind.h"

/*
 * State shared by the threads of an engine; constant, except for `codes`, which has locks of its
 * own.
 */
struct unwind_shared {
	struct sp_ctx *ctx;
	const char *arch; /* architecture of the recording */
	struct unwind_locator locator;
	struct codes *codes;
};

/* A sample made ready: registers by column, ip and sp known. */
struct unwind_start {
	const struct unwind_arch *arch;
	uint32_t view;
	struct frame_registers registers;
	uint64_t ip, sp;
	struct stack_copy stack;
};

struct unwind_engine {
	const char *name;
	/* Why this engine cannot serve recordings of that architecture; NULL: it can. */
	const char *(*refuse)(const char *arch);
	void *(*thread_new)(const struct unwind_shared *shared); /* NULL when out of memory */
	void (*thread_free)(void *thread);
	void (*forget_codes)(void *thread); /* drops all that was made from code.h's data */
	/* limit > 0. */
	struct unwind_result (*walk)(void *thread, const struct unwind_start *start,
				     struct unwind_frame *frames, size_t limit);
	/* Adds rows, misses and the like; stacks, frames and ends are counted by the caller. */
	void (*add_stats)(const void *thread, struct unwind_stats *stats);
};

extern const struct unwind_engine engine_cfi, engine_libunwind;

#endif
