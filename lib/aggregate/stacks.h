/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the call chain of a sample: the recorded one, or its kernel part and the frames unwound from
 * the stack copy. Each worker has its own state.
 */
#ifndef AGGREGATE_STACKS_H
#define AGGREGATE_STACKS_H

#include "aggregate/chain.h"
#include "base/hash.h"
#include "sideband/deferred.h"
#include "sideband/dump_unwind.h"
#include "unwind/repair.h"

/* A sample's stack. Pointers are valid until the next stack is requested. */
struct stack {
	struct callers callers;
	bool has_chain;      /* it has a chain, perhaps of the sampled address only */
	uint32_t number;     /* number of a truncated stack for stacks_later(), because it may be repaired;
			      * else REPAIR_NONE */
	size_t kernel_count; /* number of addresses before the user part */
};

/* A module without unwind information, where stacks end. */
struct blind {
	const struct module *module; /* NULL: nothing was mapped at the address */
	uint64_t stacks;
};

/* Classes of stack sizes, in KiB: the distance of the outermost frame from the stack pointer. */
#define REACH_CLASSES 1024

/* Cached result of whether a page may have code, which is tested for each frame. */
struct code_page {
	uint64_t key; /* page and view; 0: empty */
	bool may_run;
};

#define CODE_PAGES 512

struct stacks {
	const struct unwinding *unwinding;
	const struct deferred *deferred; /* NULL: no deferred call chains */
	const struct record_layout *layout; /* tells which branch stacks are call stacks; NULL: none are */
	struct unwind_thread *thread; /* NULL: stack copies are not unwound */
	struct repair *repair;
	VEC(struct unwind_frame) frames;
	struct deferred_ips ips;
	VEC(struct blind) blinds;
	struct u64map blind_of;    /* a module's address -> its index */
	struct code_page pages[CODE_PAGES];
	uint64_t reaches[REACH_CLASSES]; /* numbers of complete stacks by their size in KiB */
};

/* Leaves `deferred` and `layout` NULL; the caller may set them. */
struct sp_error *stacks_init(struct stacks *stacks,
			     const struct unwinding *unwinding) SP_MUST_CHECK;
void stacks_deinit(struct stacks *stacks);

/*
 * Returns the view in which the sample's addresses are valid. During execve(2), that may be the old or
 * the new program's; the user address in the kernel's chain decides.
 */
uint32_t stacks_view(const struct stacks *stacks, const struct sp_record *record,
		     const struct machine_span *span, uint64_t time_ns);

/* A sample whose stack is requested. */
struct stack_query {
	const struct sp_record *record;
	uint32_t view;
	bool replaced; /* the view is not the current one of its task (stacks_view()) */
	uint64_t time_ns;
};

/* Finds a sample's stack; false when out of memory. */
bool stacks_find(struct stacks *stacks, const struct stack_query *query, struct stack *ret);

/*
 * Returns the index of the first return address at which no code can run, or the number of callers if
 * there is none.
 */
size_t stacks_valid(struct stacks *stacks, uint32_t view, const struct callers *callers);

/*
 * On arm64, a leaf's caller is in a register. Adds it to the recorded chain, in stacks->ips; *ret:
 * whether it was missing. False when out of memory.
 */
bool stacks_join_leaf(struct stacks *stacks, const struct sp_record *record, uint32_t view,
		      bool *ret);

/* Parts of a stack besides its user frames. */
struct stack_parts {
	const struct sampled *sampled;
	uint16_t misc;
	const uint64_t *kernel; /* kernel part of the chain; NULL: none */
	size_t kernel_count;
};

/* Returns a truncated stack after `repair` is settled: it is repaired, or still truncated. */
bool stacks_later(struct stacks *stacks, const struct repair *repair, uint32_t number,
		  const struct stack_parts *parts, struct stack *ret);

/* Counts stacks that end in a module (may be NULL); false when out of memory. */
bool stacks_add_blind(struct stacks *stacks, const struct module *module, uint64_t count);

#endif
