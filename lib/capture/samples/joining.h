/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * While recording, stacks that were truncated are held back for a moment, until it is
 * known whether others of their thread make them whole (unwind/repair.h). From any thread,
 * but for new and free.
 */
#ifndef CAPTURE_SAMPLES_JOINING_H
#define CAPTURE_SAMPLES_JOINING_H

#include "capture/samples/dump.h"
#include "unwind/unwind.h"

struct joining;

/* Why a stack is truncated. */
enum joining_cut {
	JOINING_CUT_BY_SIZE,    /* it goes on behind what was asked for */
	JOINING_CUT_BY_HOLE,    /* at memory that was never touched */
	JOINING_CUT_ELSEWHERE,  /* its callers are not on the stack that was copied */
	JOINING_CUTS
};

/* `layout` (borrowed) and `limit`: as of dump_encode(). NULL when out of memory. */
struct joining *joining_new(const struct dump_layout *layout, size_t limit);
void joining_free(struct joining *joining);

/* An unwound stack of a sample. */
struct joining_stack {
	const struct dump *dump;
	const struct unwind_frame *frames;
	const struct unwind_result *result;
	uint64_t thread; /* as of repair_add() */
	uint64_t time_ns;
	uint16_t misc; /* as of struct dump_chain, if it stays as it is */
	enum joining_cut cut; /* if it is */
	bool helper;   /* it is only for others: never held back */
};

/*
 * Remembers it, if that may be of use. *held_ret: it was truncated and is held back: it
 * comes out of joining_settle(). Fails only for want of memory.
 */
struct sp_error *joining_add(struct joining *joining, const struct joining_stack *stack,
			     bool *held_ret) SP_MUST_CHECK;

/* What became of those that were held back. */
struct joining_counts {
	uint64_t repaired, truncated, shortened;
	uint64_t cuts[JOINING_CUTS]; /* of the truncated ones */
	uint64_t alone; /* of these: no whole stack has their outermost frame */
};

/*
 * Appends the samples that were held back, if that is due (or `now`), and adds to *counts.
 * Before they count as held back no more, *oldest_ns is lowered (atomically) to the time of the
 * oldest. Fails only for want of memory.
 */
struct sp_error *joining_settle(struct joining *joining, bool now, struct record_buffer *output,
				uint64_t *oldest_ns, struct joining_counts *counts) SP_MUST_CHECK;

/* The time of the oldest that is held back; UINT64_MAX: none. Never waits. */
uint64_t joining_oldest_ns(const struct joining *joining);

#endif
