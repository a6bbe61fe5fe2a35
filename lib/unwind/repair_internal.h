/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What remembering stacks and joining them share. */
#ifndef UNWIND_REPAIR_INTERNAL_H
#define UNWIND_REPAIR_INTERNAL_H

#include "unwind/repair.h"
#include "base/hash.h"
#include "base/vec.h"

#define NONE UINT32_MAX

/* Beside an ip: code ran there, it is none that a call returns to. Stacks lie below. */
#define EXACT (UINT64_C(1) << 63)

struct node {
	uint64_t ip;     /* of a root: the thread */
	uint64_t sp;     /* and EXACT */
	uint32_t parent; /* the caller; NONE: a root */
	uint32_t twin;   /* in the whole tree: another node for the place; NONE: the last */
	uint32_t stacks; /* how many go through it */
	uint32_t thread : 31; /* of the whole tree; NO_THREAD: it is a root, or of a truncated one */
	uint32_t is_newest : 1; /* of its twins: their list begins with it */
};

#define NO_THREAD (UINT32_MAX >> 1)

struct stack {
	uint64_t time_ns;
	uint32_t thread;
	uint32_t key;   /* the outermost node; NONE: it is whole, or was settled */
	uint32_t node;  /* the innermost in the tree it was added to; NONE: not remembered */
	uint32_t whole; /* the innermost in the whole tree; NONE: it is not whole */
};

struct thread {
	uint64_t name;
	uint32_t whole, truncated; /* roots */
};

/* Where the last stack's path lies: the next may have its outer frames in common. */
struct last_path {
	uint32_t root;
	VEC(uint32_t) nodes; /* the outermost first */
};

struct repair {
	size_t limit; /* in bytes */
	VEC(struct node) nodes;
	uint32_t *slots; /* hash table of index + 1, by (parent, ip, sp) */
	size_t slot_count;
	struct u64map twin_of; /* hash of thread and place -> the newest node for it */
	VEC(struct stack) stacks;
	VEC(struct thread) threads;
	struct u64map thread_of; /* name -> index */
	struct u64map moved;     /* (node of a truncated stack, candidate) -> node in the whole tree */
	uint32_t settled;        /* stacks before this one are */
	struct last_path last;
};

/* Of a place (ip and packed sp) of a thread. */
uint64_t repair_place_hash(uint32_t thread, uint64_t ip, uint64_t sp);

/*
 * The node below `parent` in a thread's whole tree, made if there is none such, and linked with
 * its twins; NONE when out of memory or room.
 */
uint32_t repair_whole_child(struct repair *repair, uint32_t thread, uint32_t parent, uint64_t ip,
			    uint64_t sp);

#endif
