/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the call chain of a sample: the recorded chain, or the kernel part of it and the frames unwound
 * from the stack copy. Each worker has its own state.
 */
#pragma once

#include "base/hash.h"
#include "stacks/chain.h"
#include "stacks/deferred.h"
#include "stacks/dump_unwind.h"
#include "unwind/repair.h"

/* A sample's stack. Pointers are valid until the next stack is requested. */
struct stack {
	struct callers callers;
	struct callers kernel; /* callers in the kernel that were removed from `callers` */
	bool has_chain;      /* the sample has a chain, which may contain only the sampled address */
	uint32_t number;     /* number in `repair` of a truncated stack that may be repaired later
			      * (stacks_find_repaired()); REPAIR_NONE: not truncated */
	size_t kernel_count; /* number of addresses before the user part */
};

/* Number of stacks that end in a module because it has no unwind information. */
struct blind {
	const struct module *module; /* NULL: nothing was mapped at the address */
	uint64_t stacks;
};

/*
 * Number of classes of stack sizes, of 1 KiB each. A stack's size is the distance from the stack
 * pointer to the outermost frame.
 */
#define REACH_CLASSES 1024

/* Cache entry: whether a page of memory may contain code. */
struct code_page {
	uint64_t key; /* page and view; 0: empty */
	bool may_run;
};

#define CODE_PAGES 512

struct stacks {
	const struct unwinding *unwinding;
	const struct deferred *deferred; /* NULL: no deferred call chains */
	const struct record_layout *layout; /* states which branch stacks are call stacks; NULL: none are */
	struct unwind_thread *thread; /* NULL: stack copies are not unwound */
	struct repair *repair;
	VEC(struct unwind_frame) frames;
	struct deferred_ips ips;
	VEC(struct blind) blinds;
	struct u64map blind_of;    /* a module's address -> its index in `blinds` */
	struct code_page pages[CODE_PAGES];
	uint64_t reaches[REACH_CLASSES]; /* numbers of complete stacks, by their size in KiB */
};

/* Initializes `stacks`. The caller may set `deferred` and `layout` afterwards; else they are NULL. */
struct sp_error *stacks_init(struct stacks *stacks,
			     const struct unwinding *unwinding) SP_MUST_CHECK;
void stacks_deinit(struct stacks *stacks);

/*
 * Returns the view of the address space in which the sample's addresses are valid. During execve(2) it
 * may be that of the old or the new program: the user address in the kernel's chain decides.
 */
uint32_t stacks_view(const struct stacks *stacks, const struct sp_record *record,
		     const struct machine_span *span, uint64_t time_ns);

/* A sample and the state needed to find its stack. */
struct stack_query {
	const struct sp_record *record;
	uint32_t view;
	bool replaced; /* the view is not the task's current one, but that of a program being replaced by
		        * execve(2) */
	uint64_t time_ns;
};

/* Finds the stack of a sample. Returns false when out of memory. */
bool stacks_find(struct stacks *stacks, const struct stack_query *query, struct stack *ret);

/*
 * Truncates recorded callers before the first address where no code can run, and removes what
 * execve(2) replaces. Nothing happens if they are checked already. stacks_find() leaves this to be
 * done once for each distinct chain in an address space.
 */
void stacks_check(struct stacks *stacks, uint32_t view, struct callers *callers);

/*
 * On arm64, the caller of a leaf function is in a register. If the recorded chain lacks it, makes a
 * chain with it in stacks->ips. *ret: whether it was missing. Returns false when out of memory.
 */
bool stacks_join_leaf(struct stacks *stacks, const struct sp_record *record, uint32_t view,
		      bool *ret);

/* Data of a stack except for its user frames. */
struct stack_parts {
	const struct sampled *sampled;
	uint16_t misc;
	const uint64_t *kernel; /* kernel part of the chain; NULL: it has none */
	size_t kernel_count;
};

/*
 * Returns a stack that was truncated, when it is known which stacks can be repaired: repaired, or still
 * truncated. Returns false when out of memory.
 */
bool stacks_find_repaired(struct stacks *stacks, const struct repair *repair, uint32_t number,
			  const struct stack_parts *parts, struct stack *ret);

/*
 * Counts `count` stacks that end in a module without unwind information. NULL: at an unmapped address.
 * Returns false when out of memory.
 */
bool stacks_add_no_unwind_info(struct stacks *stacks, const struct module *module, uint64_t count);
