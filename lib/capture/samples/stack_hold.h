/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * While recording, stacks that were truncated are held back for a moment, until it is
 * known whether others of their thread make them whole (unwind/repair.h). From any thread,
 * but for new and free.
 */
#ifndef CAPTURE_SAMPLES_STACK_HOLD_H
#define CAPTURE_SAMPLES_STACK_HOLD_H

#include "capture/samples/stack_dump.h"
#include "unwind/unwind.h"

struct stack_hold;

/* Why a stack is truncated. */
enum stack_hold_cut {
	STACK_CUT_BY_SIZE,    /* it goes on behind what was asked for */
	STACK_CUT_BY_HOLE,    /* at memory that was never touched */
	STACK_CUT_ELSEWHERE,  /* its callers are not on the stack that was copied */
	STACK_CUTS
};

/* `layout` (borrowed) and `limit`: as of stack_dump_encode(). NULL when out of memory. */
struct stack_hold *stack_hold_new(const struct stack_dump_layout *layout, size_t limit);
void stack_hold_free(struct stack_hold *stack_hold);

/* An unwound stack of a sample. */
struct stack_hold_stack {
	const struct dump *dump;
	const struct unwind_frame *frames;
	const struct unwind_result *result;
	const uint64_t *ips; /* chain of the frames, and of Python frames among them */
	size_t ip_count;
	uint64_t thread; /* see repair_add() */
	uint64_t time_ns;
	uint16_t misc; /* misc of the chain, if it stays truncated */
	enum stack_hold_cut cut; /* if it is */
	bool helper;   /* it is only for others: never held back */
};

/*
 * Remembers it, if that may be of use. *held_ret: it was truncated and is held back: it
 * comes out of stack_hold_flush(). Fails only when out of memory.
 */
struct sp_error *stack_hold_add(struct stack_hold *stack_hold, const struct stack_hold_stack *stack,
				bool *held_ret) SP_MUST_CHECK;

/* Results of held stacks. */
struct stack_hold_counts {
	uint64_t repaired, truncated, shortened;
	uint64_t cuts[STACK_CUTS]; /* truncated stacks, by cause */
	uint64_t alone; /* truncated stacks with an outermost frame that no whole stack has */
};

/*
 * Appends the samples that were held back, if that is due (or `now`), and adds to *counts.
 * Before they count as held back no more, *oldest_ns is lowered (atomically) to the time of the
 * oldest. Fails only when out of memory.
 */
struct sp_error *stack_hold_flush(struct stack_hold *stack_hold, bool now, struct record_buffer *output,
				  uint64_t *oldest_ns, struct stack_hold_counts *counts) SP_MUST_CHECK;

/* The time of the oldest that is held back; UINT64_MAX: none. Never waits. */
uint64_t stack_hold_oldest_ns(const struct stack_hold *stack_hold);

#endif
