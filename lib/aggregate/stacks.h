/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a sample to its call chain: the recorded one, or the kernel's part of it and what
 * unwinding a copy of the user's stack gives. Each worker has its own.
 */
#ifndef AGGREGATE_STACKS_H
#define AGGREGATE_STACKS_H

#include "aggregate/chain.h"
#include "base/hash.h"
#include "sideband/deferred.h"
#include "sideband/dump_unwind.h"
#include "unwind/repair.h"

/* A sample's stack; what it points to is valid until the next one is asked for. */
struct stack {
	struct callers callers;
	bool has_chain;      /* there is one, if only of the sampled place */
	uint32_t number;     /* truncated, but it may be repaired: of stacks_later(); or REPAIR_NONE */
	size_t kernel_count; /* ips before the user's part */
};

/* Code without unwind information. */
struct blind {
	const struct module *module; /* NULL: nothing was mapped there */
	uint64_t stacks;
};

/* Classes of a stack's size, in KiB: its outermost frame's distance from the stack pointer. */
#define REACH_CLASSES 1024

/* Whether code may run on a page: cached, since it is looked up for each frame. */
struct code_page {
	uint64_t key; /* the page and the view; 0: none */
	bool may_run;
};

#define CODE_PAGES 512

struct stacks {
	const struct unwinding *unwinding;
	const struct deferred *deferred; /* NULL: there are none */
	const struct record_layout *layout; /* says which branch stacks are call stacks; NULL: none */
	struct unwind_thread *thread; /* NULL: nothing is unwound */
	struct repair *repair;
	VEC(struct unwind_frame) frames;
	struct deferred_ips ips;
	VEC(struct blind) blinds;
	struct u64map blind_of;    /* the module's address -> its index */
	struct code_page pages[CODE_PAGES];
	uint64_t reaches[REACH_CLASSES]; /* counts of complete stacks, by size in KiB */
};

/* Without `deferred` and `layout`, which may be set then. */
struct sp_error *stacks_init(struct stacks *stacks,
			     const struct unwinding *unwinding) SP_MUST_CHECK;
void stacks_deinit(struct stacks *stacks);

/*
 * The sample's view: its task's, or that of the program that execve(2) is replacing. The program is
 * known by the user address in the kernel's call chain.
 */
uint32_t stacks_view(const struct stacks *stacks, const struct sp_record *record,
		     const struct machine_span *span, uint64_t time_ns);

/* A sample whose stack is looked for. */
struct stack_query {
	const struct sp_record *record;
	uint32_t view;
	bool replaced; /* the view is not its task's (stacks_view()) */
	uint64_t time_ns;
};

/* Finds a sample's stack; false when out of memory. */
bool stacks_find(struct stacks *stacks, const struct stack_query *query, struct stack *ret);

/* Index in a recorded chain of the first return address where no code can run, or its count. */
size_t stacks_valid(struct stacks *stacks, uint32_t view, const struct callers *callers);

/*
 * The recorded chain with the caller that arm64 keeps in a register, in stacks->ips; *ret: that was
 * so. False when out of memory.
 */
bool stacks_join_leaf(struct stacks *stacks, const struct sp_record *record, uint32_t view,
		      bool *ret);

/* The parts of a stack besides its user frames. */
struct stack_parts {
	const struct sampled *sampled;
	uint16_t misc;
	const uint64_t *kernel; /* the kernel's part of the chain; NULL: empty */
	size_t kernel_count;
};

/* Returns a truncated stack once `repair` has settled it: repaired, or still truncated. */
bool stacks_later(struct stacks *stacks, const struct repair *repair, uint32_t number,
		  const struct stack_parts *parts, struct stack *ret);

/* Counts stacks that end in a module, which may be NULL; false when out of memory. */
bool stacks_add_blind(struct stacks *stacks, const struct module *module, uint64_t count);

#endif
