/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drain threads. Each drains the rings of some CPUs, and runs on these CPUs if it may. It only
 * moves records to a relay in unlocked memory (ring/relay.h). So a ring needs room only for the
 * records until its thread is woken, however busy the rest of the recorder is. The round reads
 * from the relays, one for each CPU, as if they were the rings.
 *
 * A thread that runs on a sampled CPU competes with the sampled tasks there, and is scheduled as
 * one of them. On another CPU it might have to wait longer.
 */
#pragma once

#include "base/ctx.h"
#include "base/thread_priority.h"
#include "capture/config/capture_options.h"
#include "proc/sysfs.h"
#include "ring/relay.h"

struct drain_threads;

struct drain_place {
	struct ring *ring; /* the kernel's; borrowed */
	int fd;            /* readable when the ring is to be drained */
	uint32_t cpu;
	uint32_t group;    /* number of the thread, from 0 */
};

struct drain_threads_options {
	const struct drain_place *places; /* one for each ring; copied */
	size_t count;
	size_t threads;       /* groups */
	uint64_t relay_bytes; /* for each ring, a power of two */
	uint64_t notify_bytes; /* drain_threads_fd() tells when so much waits in one of them */
	size_t record_max;    /* see relay_move() */
	uint32_t realtime;    /* see thread_priority_begin() */
	/*
	 * Looks at what has arrived in a ring, in [ring->tail, end), ahead of moving it; NULL: nothing
	 * does. `state` is the thread's own, from `new_state`, which may return NULL.
	 */
	void (*on_arrival)(void *arg, void *state, const struct ring *ring, uint64_t end);
	void *(*new_state)(void *arg);
	void (*free_state)(void *state);
	void *arg;
	bool polls;           /* also look every 1 to 10 ms: some records wake no thread */
	bool by_reader; /* only drain_threads_move() moves: for a reader that changes records */
};

/*
 * Makes a relay for each ring, prefaults the relays' first bytes, and starts the threads; they
 * block all signals. With `by_reader`, no thread is started. The result owns the rings until
 * drain_threads_free().
 */
struct sp_error *drain_threads_new(const struct drain_threads_options *options,
				   struct drain_threads **ret) SP_MUST_CHECK;
/* Ends them; what was not moved stays in the kernel's rings. NULL is allowed. */
void drain_threads_free(struct drain_threads *drain_threads);

/* Returns the relay's ring, which replaces the kernel's ring of that index for the reader. */
struct ring *drain_threads_ring(struct drain_threads *drain_threads, size_t index);

/*
 * Returns a descriptor that is readable when a relay has data for a round; drain_threads_move()
 * makes it unreadable.
 */
int drain_threads_fd(const struct drain_threads *drain_threads);

/* Returns whether the reader has to watch the kernel's rings itself. */
bool drain_threads_is_by_reader(const struct drain_threads *drain_threads);

/* Moves all records, even if they are too few to wake a thread. Only the reader calls it. */
void drain_threads_move(struct drain_threads *drain_threads);

/* Returns whether some record may have found no room in the kernel's ring of that index. */
bool drain_threads_was_full(const struct drain_threads *drain_threads, size_t index);

/* Returns whether the last move left records in a kernel's ring, because its relay is full. */
bool drain_threads_are_full(const struct drain_threads *drain_threads);

struct drain_threads_counts {
	uint64_t wakeups;  /* sum over all threads */
	uint64_t cpu_ns;   /* their CPU time */
	size_t threads;
};
struct drain_threads_counts drain_threads_counts(const struct drain_threads *drain_threads);

/*
 * Returns the number of threads for `cpus` CPUs; 0: one thread for everything is as good.
 * `stack_bytes`: stack copy in each sample.
 */
size_t drain_threads_worthwhile(size_t cpus, uint32_t stack_bytes);

/* Bytes of plain memory for each ring of that size: all together they are bounded. */
uint64_t drain_threads_relay_bytes(uint64_t ring_bytes, size_t cpus, uint32_t stack_bytes);

/* Decides how many threads drain the sample rings, and which thread drains which CPU's ring. */

/*
 * Returns the number of drain threads for `cpus` CPUs: from the options, else from the number of
 * CPUs and the bytes of stack copies in each sample, which determine how fast rings fill. 0: the
 * round drains itself.
 */
size_t drain_groups_wanted(const struct capture_options *options, size_t cpus,
			   uint32_t stack_bytes);

/*
 * Gives each CPU the number of its thread, from 0 on: by core, package or NUMA node (as sysfs has
 * them), else in `wanted` equal parts. *count_ret is the number of threads. Fails only when out of
 * memory, or if sysfs cannot be parsed.
 */
struct sp_error *drain_groups_make(const struct sp_ctx *ctx, enum sp_capture_threads by,
				   size_t wanted, const struct cpu_list *cpus, uint32_t *groups_ret,
				   size_t *count_ret) SP_MUST_CHECK;
