/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by remembering and joining stacks. */
#ifndef UNWIND_REPAIR_INTERNAL_H
#define UNWIND_REPAIR_INTERNAL_H

#include "unwind/repair.h"
#include "base/hash.h"
#include "base/vec.h"

#define NONE UINT32_MAX

/* Flag of an ip: code ran there, it is not a return address. Stack addresses are below it. */
#define EXACT (UINT64_C(1) << 63)

/* Callers have lower numbers than what they call. */
struct node {
	uint64_t hash;   /* hash of the whole path, which identifies a node */
	uint64_t ip;     /* root: the thread */
	uint64_t sp;     /* and EXACT */
	uint32_t parent; /* the caller; NONE: a root */
	uint32_t thread; /* thread of a whole tree; NONE: a root, or a node of a truncated tree */
};

struct slot {
	uint64_t hash;
	uint32_t node; /* its index + 1; 0: empty */
};

struct stack {
	uint64_t time_ns;
	uint32_t thread;
	uint32_t key;   /* the outermost node; NONE: it was whole from the start */
	uint32_t node;  /* the innermost in the tree it was added to; NONE: not remembered */
	uint32_t whole; /* the innermost in the whole tree; NONE: it is not whole */
	bool known;     /* whole ones have its outermost frame */
	bool by_visits; /* made whole by what other visits to its key say, and so less sure */
};

/* A part of a log, which never moves: growing would cost more than what is written. */
struct log_block {
	struct log_block *next;
	size_t count, capacity;
	uint64_t words[];
};

/*
 * Whole stacks of a thread that none has asked for yet, in order: each is what its innermost
 * frames differ by from the one before.
 *
 *	time_ns | frames it shares << 32 | frames that follow | their ip, sp, the outermost first
 */
struct log {
	struct log_block *first, *newest;
	size_t word_count;             /* sum over all blocks */
	size_t block_bytes;            /* allocated */
	VEC(struct unwind_frame) last; /* the latest, the outermost frame first */
};

struct thread {
	uint64_t name;
	uint32_t whole, truncated; /* roots; NONE: none was truncated, what is known is in the log */
	struct log log;
};

struct repair {
	size_t limit; /* in bytes */
	VEC(struct node) nodes;
	struct slot *slots; /* hash table */
	size_t slot_count;
	VEC(struct stack) stacks;
	VEC(struct thread) threads;
	struct u64map thread_of; /* name -> index */
	uint32_t settled;        /* stacks before this one are */
	uint32_t last_thread;    /* thread of the newest stack */
	size_t log_bytes;        /* sum over all threads */
	VEC(uint64_t) hashes;    /* scratch */
};

/* The hash of what is called from a path. */
static inline uint64_t path_hash(uint64_t hash, uint64_t ip, uint64_t sp)
{
	return hash_pair(hash + ip, sp);
}

/* The node with a path's hash; NONE if there is none. */
uint32_t repair_find(const struct repair *repair, uint64_t hash);

/* Appends a whole stack, the innermost frame first. False when out of memory: it is not there. */
bool log_add(struct log *log, uint64_t time_ns, const struct unwind_frame *frames, size_t count);

/* Appends what is in `from`. False when out of memory: nothing was. */
bool log_merge(struct log *log, const struct log *from);
void log_deinit(struct log *log);

/* How much is allocated. */
size_t log_bytes(const struct log *log);

static inline uint64_t packed_sp(const struct unwind_frame *frame)
{
	return (frame->sp & ~EXACT) | (frame->exact ? EXACT : 0);
}

/* A new node, of which there must be none; NONE when out of memory or room. */
uint32_t repair_add_node(struct repair *repair, const struct node *node);

#endif
