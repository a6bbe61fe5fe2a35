/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Holds truncated stacks for a moment while recording, until other stacks of their thread may have
 * completed them (unwind/repair.h). Thread-safe, except for new and free.
 */
#pragma once

#include "capture/samples/stack_dump.h"
#include "unwind/unwind.h"

/* Causes of truncated stacks. */
enum stack_hold_cut {
	STACK_CUT_BY_SIZE,    /* the stack exceeds the requested size */
	STACK_CUT_BY_HOLE,    /* a page of the stack was never touched */
	STACK_CUT_ELSEWHERE,  /* the callers are on another stack */
	STACK_CUTS
};

/* `layout` (borrowed) and `limit`: as for stack_dump_encode(). Returns NULL when out of memory. */
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
	enum stack_hold_cut cut; /* cause, if it is truncated */
	bool helper;   /* it only helps others, and is never held */
};

/*
 * Saves the stack if it may help others. *held_ret: it is truncated and held: stack_hold_flush()
 * writes it. Fails only when out of memory.
 */
struct sp_error *stack_hold_add(struct stack_hold *stack_hold, const struct stack_hold_stack *stack,
				bool *held_ret) SP_MUST_CHECK;

/* Results of held stacks. */
struct stack_hold_counts {
	uint64_t repaired, truncated;
	uint64_t cuts[STACK_CUTS]; /* truncated stacks, by cause */
	uint64_t alone; /* truncated stacks with an outermost frame that no whole stack has */
};

/*
 * Appends the held samples that are due (`now`: all), and adds to *counts. Before they count as no
 * longer held, lowers *oldest_ns (atomically) to the time of the oldest. Fails only when out of
 * memory.
 */
struct sp_error *stack_hold_flush(struct stack_hold *stack_hold, bool now, struct record_buffer *output,
				  uint64_t *oldest_ns, struct stack_hold_counts *counts) SP_MUST_CHECK;

/* Returns the time of the oldest held sample; UINT64_MAX: none. Never waits. */
uint64_t stack_hold_oldest_ns(const struct stack_hold *stack_hold);
