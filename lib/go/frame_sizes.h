/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes of a Go program's stack frames: all that unwinding needs of the function table, in a fraction of
 * its memory. A recorder may keep the sizes of many programs.
 */
#pragma once

#include "base/vec.h"
#include "go/pclntab.h"

struct frame_sizes_function {
	uint64_t start;  /* vaddr */
	uint32_t values; /* offset of its table of sizes; 0: none */
	uint8_t flags;   /* GO_* */
};

/* Constant after frame_sizes_make(): any thread may read. A zeroed struct is empty. */
struct frame_sizes {
	VEC(struct frame_sizes_function) functions; /* sorted; the last one is the end of the code */
	VEC(uint8_t) values;
	uint8_t word, quantum;
};

/* Fails only when out of memory; *ret is empty then. Copies no more bytes than the table has. */
struct sp_error *frame_sizes_make(const struct pclntab *table, struct frame_sizes *ret) SP_MUST_CHECK;
void frame_sizes_deinit(struct frame_sizes *sizes);

static inline size_t frame_sizes_bytes(const struct frame_sizes *sizes)
{
	return sizes->functions.capacity * sizeof(*sizes->functions.items) + sizes->values.capacity;
}

/* Returns the function with code at `vaddr`, or NULL. It ends where the next item begins. */
const struct frame_sizes_function *frame_sizes_find(const struct frame_sizes *sizes, uint64_t vaddr);

/* Distance from the stack pointer at `vaddr` to its value at the function's start; false if unknown. */
bool frame_sizes_at(const struct frame_sizes *sizes, const struct frame_sizes_function *function,
		    uint64_t vaddr, int32_t *ret);
