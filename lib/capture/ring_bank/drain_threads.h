/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that keep the kernel's rings empty. Each has some CPUs, stays on them where it may,
 * and does no more than move what is in their rings to where there is room (ring/relay.h): so
 * rings need to hold only what comes until it is woken, whatever the rest of the recorder is at.
 * Who writes the file reads on from there, all CPUs in one, as if that were the rings.
 *
 * A thread that stays on a CPU is woken beside those that are sampled there, and is let in as
 * one of them; elsewhere it may stand behind others.
 */
#ifndef CAPTURE_RING_BANK_DRAIN_THREADS_H
#define CAPTURE_RING_BANK_DRAIN_THREADS_H

#include "capture/ring_bank/thread_priority.h"
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
	 * does. `state` is the thread's own, from `new_state`, which may return NULL; free()d.
	 */
	void (*on_arrival)(void *arg, void *state, const struct ring *ring, uint64_t end);
	void *(*new_state)(void *arg);
	void *arg;
	bool by_reader;       /* only drain_threads_move() moves: for a reader that changes records */
};

/* Threads run from here on; they take no signals. Rings are theirs until drain_threads_free(). */
struct sp_error *drain_threads_new(const struct drain_threads_options *options,
				   struct drain_threads **ret) SP_MUST_CHECK;
/* Ends them; what was not moved stays in the kernel's rings. NULL is allowed. */
void drain_threads_free(struct drain_threads *drain_threads);

/* Returns the relay's ring, which replaces the kernel's ring of that index for the reader. */
struct ring *drain_threads_ring(struct drain_threads *drain_threads, size_t index);

/* Readable when there is something to be read; drain_threads_move() makes it unreadable. */
int drain_threads_fd(const struct drain_threads *drain_threads);

/* Whether the reader has to watch the kernel's rings itself. */
bool drain_threads_is_by_reader(const struct drain_threads *drain_threads);

/* Moves all there is, be it worth waking a thread or not. The reader's. */
void drain_threads_move(struct drain_threads *drain_threads);

/* Whether some record may have found no room in the kernel's ring of a place. */
bool drain_threads_was_full(const struct drain_threads *drain_threads, size_t index);

/* Whether the last move left records in a kernel's ring, because its relay is full. */
bool drain_threads_are_full(const struct drain_threads *drain_threads);

struct drain_threads_counts {
	uint64_t wakeups;  /* sum over all threads */
	uint64_t cpu_ns;   /* their CPU time */
	size_t threads;
};
struct drain_threads_counts drain_threads_counts(const struct drain_threads *drain_threads);

/*
 * How many threads for so many CPUs: 0 where one that does all is as good. `stack_bytes`: copied
 * into each sample.
 */
size_t drain_threads_worthwhile(size_t cpus, uint32_t stack_bytes);

/* Bytes of plain memory for each ring of that size: all together they are bounded. */
uint64_t drain_threads_relay_bytes(uint64_t ring_bytes, size_t cpus, uint32_t stack_bytes);

#endif
