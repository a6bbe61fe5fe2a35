/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pools of threads: at least two threads of a process with names that differ only in numbers,
 * such as "worker-1" and "worker-2". They are one pool, "worker-*", in all processes.
 */
#pragma once

#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"

/* Names of one pattern in one process. */
struct pool_names {
	const char *comms[2]; /* distinct ones; NULL: there are fewer */
	uint32_t threads;
};

/* A zeroed struct is empty. */
struct pools {
	struct strtab texts;
	struct u64map names_of;  /* hash of a pid and a pattern -> index in `names` */
	struct u64map thread_of; /* hash of that and a tid; the value has no meaning */
	struct u64map total_of;  /* address of a pattern -> number of its pools' threads */
	struct { VEC(struct pool_names); } names;
};

void pools_deinit(struct pools *pools);

/* Adds a thread's name, which must be interned. Returns false when out of memory. */
bool pools_add(struct pools *pools, uint32_t pid, uint32_t tid, const char *comm);

/*
 * Returns the pool that a name belongs to, "worker-* (16 threads)", owned by `pools`; NULL if it is
 * none, or when out of memory.
 */
const char *pools_find(struct pools *pools, const char *comm);

/*
 * Counts a thread for pools of single processes: threads with equal names are one, too. Returns
 * false when out of memory. Not for pools with pools_add().
 */
bool pools_count(struct pools *pools, uint32_t pid, const char *comm);

/*
 * Returns the pool of a process that a name belongs to, owned by `pools`; NULL if it has fewer than
 * two threads, or when out of memory.
 */
const char *pools_find_counted(struct pools *pools, uint32_t pid, const char *comm);

/* Returns whether a text is the pool of a name, with or without the number of threads. */
bool pool_is(const char *text, const char *comm);
