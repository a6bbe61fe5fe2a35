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
#ifndef CAPTURE_RING_BANK_DRAINS_H
#define CAPTURE_RING_BANK_DRAINS_H

#include "capture/ring_bank/hurry.h"
#include "ring/relay.h"

struct drains;

struct drain_place {
	struct ring *ring; /* the kernel's; borrowed */
	int fd;            /* readable when the ring is to be drained */
	uint32_t cpu;
	uint32_t group;    /* of the thread, from 0 on */
};

struct drains_options {
	const struct drain_place *places; /* one for each ring; copied */
	size_t count;
	size_t threads;       /* groups */
	uint64_t relay_bytes; /* for each ring, a power of two */
	uint64_t notify_bytes; /* drains_fd() tells when so much waits in one of them */
	size_t record_max;    /* as of relay_move() */
	uint32_t realtime;    /* as of hurry_begin() */
	/*
	 * Looks at what has arrived in a ring, in [ring->tail, end), ahead of moving it; NULL: nothing
	 * does. `state` is the thread's own, from `new_state`, which may return NULL; free()d.
	 */
	void (*on_arrival)(void *arg, void *state, const struct ring *ring, uint64_t end);
	void *(*new_state)(void *arg);
	void *arg;
	bool by_reader;       /* nobody but drains_move() moves: for a reader that changes records */
};

/* Threads run from here on; they take no signals. Rings are theirs until drains_free(). */
struct sp_error *drains_new(const struct drains_options *options,
			    struct drains **ret) SP_MUST_CHECK;
/* Ends them; what was not moved stays in the kernel's rings. NULL is allowed. */
void drains_free(struct drains *drains);

/* What stands in for the ring of that index, for the one reader. */
struct ring *drains_ring(struct drains *drains, size_t index);

/* Readable when there is something to be read; drains_move() makes it unreadable. */
int drains_fd(const struct drains *drains);

/* Whether the reader has to watch the kernel's rings itself. */
bool drains_is_by_reader(const struct drains *drains);

/* Moves all there is, be it worth waking a thread or not. The reader's. */
void drains_move(struct drains *drains);

/* Whether some record may have found no room in a ring of the kernel's. */
bool drains_were_full(const struct drains *drains);

struct drains_counts {
	uint64_t wakeups;  /* of all threads */
	uint64_t cpu_ns;   /* that they have used */
	size_t threads;
};
struct drains_counts drains_counts(const struct drains *drains);

/*
 * How many threads for so many CPUs: 0 where one that does all is as good. `stack_bytes`: copied
 * into each sample.
 */
size_t drains_worthwhile(size_t cpus, uint32_t stack_bytes);

/* Bytes of plain memory for each ring of that size: all together they are bounded. */
uint64_t drains_relay_bytes(uint64_t ring_bytes, size_t cpus, uint32_t stack_bytes);

#endif
