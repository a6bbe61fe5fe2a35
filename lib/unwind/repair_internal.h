/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of the repair share: storing stacks, and joining them. */
#pragma once

#include "unwind/repair.h"
#include "base/hash.h"
#include "base/vec.h"

#define NONE UINT32_MAX

/* Flag of an ip that is an executed instruction, not a return address. Stack addresses are lower. */
#define EXACT (UINT64_C(1) << 63)

/* A frame in a tree of stacks. Callers have lower numbers than their callees. */
struct repair_node {
	uint64_t hash;   /* hash of the path from the root, which identifies the node */
	uint64_t ip;     /* instruction pointer; of a root, the thread's id */
	uint64_t sp;     /* stack pointer, and the flag EXACT */
	uint32_t parent; /* node of the caller; NONE: a root */
	uint32_t thread; /* index, in a tree of complete stacks; NONE: a root, or truncated */
};

struct repair_slot {
	uint64_t hash;
	uint32_t node; /* index of the node + 1; 0: empty */
};

struct repair_stack {
	uint64_t time_ns;
	uint32_t thread; /* index in repair.threads */
	uint32_t key;   /* outermost node; NONE: the stack was complete from the start */
	uint32_t node;  /* innermost node in the tree to which it was added; NONE: not stored */
	uint32_t whole; /* innermost node in the tree of complete stacks; NONE: not complete */
	bool known;     /* complete stacks have its outermost frame */
	bool by_visits; /* joined by what other stacks with the same outermost frame did, which is less
			 * certain */
};

/* Block of a log. Blocks never move, because moving costs more than writing. */
struct log_block {
	struct log_block *next;
	size_t count, capacity;
	uint64_t words[];
};

/*
 * Complete stacks of a thread for which no truncated stack was seen yet, in order. Each is stored as
 * the difference from the previous one:
 *
 * time_ns | number of shared frames << 32 | number of new frames | ip and sp of these, outermost first
 */
struct log {
	struct log_block *first, *newest;
	size_t word_count;             /* number of words in all blocks */
	size_t block_bytes;            /* allocated bytes */
	VEC(struct unwind_frame) last; /* the newest stack, outermost frame first */
};

struct thread {
	uint64_t id; /* repair_add() */
	uint32_t whole, truncated; /* roots of the thread's trees; NONE: no stack was truncated, and
				    * complete ones are in the log */
	struct log log;
};

struct repair {
	size_t limit; /* limit of memory, in bytes */
	VEC(struct repair_node) nodes;
	struct repair_slot *slots; /* hash table of nodes */
	size_t slot_count;
	VEC(struct repair_stack) stacks;
	VEC(struct thread) threads;
	struct u64map thread_of; /* id -> index in threads */
	uint32_t tried;          /* number of stacks that repair_complete() has tried */
	uint32_t last_thread;    /* index of the newest stack's thread */
	size_t log_bytes;        /* bytes in the logs of all threads */
	VEC(uint64_t) hashes;    /* buffer of one call */
};

/* Returns the hash of a path with one more frame. */
static inline uint64_t path_hash(uint64_t hash, uint64_t ip, uint64_t sp)
{
	return hash_pair(hash + ip, sp);
}

/* Returns the node with a path's hash; NONE if there is none. */
uint32_t repair_find(const struct repair *repair, uint64_t hash);

/*
 * Appends a complete stack, innermost frame first. Returns false, with nothing added, when out of
 * memory.
 */
bool log_add(struct log *log, uint64_t time_ns, const struct unwind_frame *frames, size_t count);

/* Appends the stacks of `from`. Returns false, with nothing added, when out of memory. */
bool log_merge(struct log *log, const struct log *from);
void log_deinit(struct log *log);

/* Returns the number of allocated bytes. */
size_t log_bytes(const struct log *log);

/* Returns the innermost node that two paths of one thread have in common. */
static inline uint32_t repair_common_node(const struct repair *repair, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a > b)
			a = repair->nodes.items[a].parent;
		else
			b = repair->nodes.items[b].parent;
	}
	return a;
}

static inline uint64_t packed_sp(const struct unwind_frame *frame)
{
	return (frame->sp & ~EXACT) | (frame->exact ? EXACT : 0);
}

/* Adds a node that must not exist yet. Returns NONE when out of memory or room. */
uint32_t repair_add_node(struct repair *repair, const struct repair_node *node);
