/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks that are larger than what is copied of them: how much would have held them,
 * which is seen from where a thread's stack is mapped.
 *
 * One for each thread that unwinds; sums are added up.
 */
#ifndef CAPTURE_SAMPLES_STACK_SIZE_H
#define CAPTURE_SAMPLES_STACK_SIZE_H

#include <stdint.h>
#include "base/ctx.h"

#define STACK_SIZE_STEP 1024
#define STACK_SIZE_STEPS 64
#define STACK_SIZE_PLACES 256

struct stack_sizes {
	const struct sp_ctx *ctx;
	uint64_t cut;     /* stacks */
	uint64_t known;   /* cut stacks with a known size: */
	uint64_t steps[STACK_SIZE_STEPS + 1]; /* up to (i + 1) KiB; the last: more */
	uint64_t looked_ns; /* time of the last read of /proc; the next one waits for a while */
	struct {
		uint32_t tid;
		uint64_t low, high;
	} places[STACK_SIZE_PLACES];
};

/* Notes a stack that its copy cut: how deep it was, by the thread's stack in /proc. */
void stack_sizes_on_cut(struct stack_sizes *sizes, uint32_t pid, uint32_t tid, uint64_t sp,
			uint64_t time_ns);

void stack_sizes_add(struct stack_sizes *sum, const struct stack_sizes *other);

/*
 * The size that would have held 99 % of those that were cut; 0: nothing is known of them,
 * UINT32_MAX: more than can be copied.
 */
uint32_t stack_sizes_enough(const struct stack_sizes *sizes);

#endif
