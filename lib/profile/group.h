/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of samples that have equal values of the requested keys. Groups are numbered. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"

/* Samples of one slice of a thread's lifetime that are scaled together (times/strata.h). */
struct stratum_id {
	uint32_t slice, number;
};

/* Keys that were not requested are NULL or 0. Names are interned: equal ones are equal pointers. */
struct group {
	uint16_t event;
	const char *comm;
	int32_t pid, tid, cpu; /* -1: not known */
	uint8_t replicate;     /* jackknife group of the samples (ratio.h) */
	uint32_t detail;       /* number of a tuple in struct details */
	/* The next members are zeroed in groups of rows. */
	struct stratum_id stratum; /* waits have that of all classes */
	uint32_t syscall;          /* waits: number of the system call + 1; 0: unknown */
	uint32_t kernel_chain;     /* waits with a stack that ends outside of the kernel: last node
				    * of the kernel's part + 1 */
	const char *waker;         /* SP_MODE_WAKERS: text of the waker */
	/* Trees of processes: the process (struct machine_process). */
	uint32_t process_pid;
	uint64_t process_ns;
};

struct groups {
	VEC(struct group);
	struct u64map index_of; /* hash -> index */
	bool failed; /* out of memory: groups are missing */
};

/* A zeroed struct groups is empty. */
void groups_deinit(struct groups *groups);

/* Returns the group's index, added if new. Out of memory: sets `failed`, and returns 0. */
uint32_t groups_add(struct groups *groups, const struct group *group);
