/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes of stacks that exceed their copies, by the mappings of threads' stacks. Each thread that
 * unwinds has an object; sums are added up.
 */
#pragma once

#include <stdint.h>
#include "base/ctx.h"

#define STACK_SIZE_STEP 1024
#define STACK_SIZE_STEPS 64
#define STACK_SIZE_PLACES 256

struct stack_sizes {
	const struct sp_ctx *ctx;
	uint64_t cut;     /* stacks */
	uint64_t known;   /* cut stacks with a known size: */
	uint64_t steps[STACK_SIZE_STEPS + 1]; /* up to (i + 1) KiB; the last one: larger */
	uint64_t looked_ns; /* time of the last read of /proc; the next one waits for a while */
	struct {
		uint32_t tid;
		uint64_t low, high;
	} places[STACK_SIZE_PLACES];
};

/* Counts a truncated stack by its depth in the thread's stack, from /proc. */
void stack_sizes_on_cut(struct stack_sizes *sizes, uint32_t pid, uint32_t tid, uint64_t sp,
			uint64_t time_ns);

void stack_sizes_add(struct stack_sizes *sum, const struct stack_sizes *other);

/*
 * Returns the size that would hold 99 % of the truncated stacks; 0: unknown, UINT32_MAX: more than
 * can be copied.
 */
uint32_t stack_sizes_enough(const struct stack_sizes *sizes);
