/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Callers on a goroutine's stack of what Go's runtime does on a thread's own stack (its g0). A
 * sample has no copy of the former. The runtime keeps the frame pointer when it changes stacks, so
 * that the kernel's call chain of that moment has these callers. It lacks one: the caller of the
 * function that changes stacks. Its calls show which it is.
 *
 * Growth of a goroutine's stack: the chain lacks two callers, the function with the frame that
 * needs space and its own caller. runtime.newstack, on the g0, has a copy of the latter's
 * registers. Since Go 1.21 the frame pointer is the g0's then: there are no further callers.
 */
#pragma once

#include "unwind/expression.h"
#include "unwind/heuristics.h"

#define GO_CALLS 256

/* A missing caller that was searched, by its callee and its own caller. Zeroed: none. */
struct go_call {
	const struct code *code;
	uint64_t callee, inner; /* vaddrs: starts of the callee and of the callee's callee */
	uint64_t outer;         /* vaddr: return address in the missing function's caller */
	uint64_t ip;                   /* return address in the missing function; 0: unknown */
	bool direct;                   /* `outer` follows a direct call */
};

struct go_callers {
	const struct unwind_arch *arch;
	const struct code *code;   /* the program's */
	uint64_t bias;             /* address of its code minus vaddr */
	const uint64_t *chain;     /* the kernel's, from the caller of the last frame on */
	size_t chain_count;        /* 0: the chain lacks the last frame */
	const struct stack_copy *stack; /* the g0's */
	const struct frame_registers *registers; /* registers of the last frame's caller */
	struct go_call *calls;     /* GO_CALLS, of the thread */
};

/*
 * Appends the callers to a stack that ends in a function that changes stacks, and updates the
 * result. Adds none of the chain unless it leads to a goroutine's first function. Only for x86-64.
 */
void go_callers_add(const struct go_callers *callers, struct unwind_frame *frames, size_t limit,
		    struct unwind_result *result);
