/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interface of unwinding engines. An engine is a const struct at the end of its file, listed in
 * unwind.c.
 */
#pragma once

#include "unwind/arch.h"
#include "unwind/code_cache.h"
#include "unwind/expression.h"
#include "unwind/unwind.h"

/*
 * State that the threads of an engine share. It is constant, except for `code_cache`, which has its
 * own locks.
 */
struct unwind_shared {
	struct sp_ctx *ctx;
	const char *arch; /* architecture of the recording */
	struct unwind_locator locator;
	struct unwind_files files;
	struct code_cache *code_cache;
};

/* State of the innermost frame: registers by column; ip and sp are known. */
struct unwind_start {
	const struct unwind_arch *arch;
	uint32_t view;
	struct frame_registers registers;
	uint64_t ip, sp;
	bool ip_and_sp_only; /* same as in struct unwind_sample */
	struct stack_copy stack;
	const uint64_t *callers; /* same as in struct unwind_sample */
	size_t caller_count;
};

struct unwind_engine {
	const char *name;
	/* Returns why this engine does not support recordings of that architecture; NULL: it does. */
	const char *(*refuse)(const char *arch);
	void *(*thread_new)(const struct unwind_shared *shared); /* Creates the state of one thread; NULL
								  * when out of memory. */
	void (*thread_free)(void *thread);
	void (*drop_code)(void *thread); /* Drops pointers to struct code. */
	/* Unwinds one stack; `limit` is above 0. */
	struct unwind_result (*walk)(void *thread, const struct unwind_start *start,
				     struct unwind_frame *frames, size_t limit);
};

extern const struct unwind_engine engine_cfi, engine_libunwind;
