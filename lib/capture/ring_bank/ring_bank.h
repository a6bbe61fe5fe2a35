/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring buffers of all recorded CPUs: one for metadata and one for samples on each. This part
 * decides where a round ends in each sample ring. The round reads up to there, and notes in `reads`
 * how far that was. It calls, in this order:
 *
 *	ring_bank_end_round()	the samples of this round end here
 *	ring_bank_limit()	optional, in a loop: the samples that a file has room for
 *	ring_bank_ring(), ring_bank_end()	each ring, to be read from its tail up to its end
 *
 * Threads may drain the kernel's rings into memory (drain_threads.h); ring_bank_ring() then returns what
 * stands in for a ring. All functions belong to one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "capture/ring_bank/drain_threads.h"
#include "base/thread_priority.h"
#include "capture/ring_bank/rewrite.h"
#include "capture/ring_bank/wall_clock.h"
#include "ring/ring.h"

/* Largest record. A ring with more free bytes than this has lost no record. */
#define RING_RECORD_MAX 65536

/* A CPU, and the file descriptors (borrowed) of its mapped rings. */
struct ring_place {
	uint32_t cpu;
	int metadata_fd, samples_fd;
};

/* State of a sample ring at the end of the last round that read it. */
struct ring_read {
	uint64_t time_ns; /* time of the last record; the user sets it; 0: none was read */
	bool was_full; /* there was no room for some record after it, or, with drain threads, ever
			*/
};

/* Zeroed, it is empty. */
struct ring_bank {
	size_t count;              /* CPUs; 0 before ring_bank_init() */
	struct ring_place *places; /* one for each CPU */
	struct ring *metadata, *samples; /* the kernel's rings of each CPU */
	uint64_t *ends;            /* end of this round in each sample ring */
	uint64_t *heads;           /* end of this round before limits */
	struct ring_read *reads;   /* one for each CPU */
	bool overwrites;           /* overwrite mode: no round reads samples */
	/* Threads that drain the sample rings; NULL: the round does. */
	struct drain_threads *drain_threads;
	struct rewrite rewrite;    /* changes of records */
	struct wall_clock wall;    /* the clock of the records, if it can be set; else off */
	/* Priority of the calling thread, if --realtime or --off-cpu raises it. */
	struct thread_priority thread_priority;
	bool was_full;             /* a sample ring had no room for some record */
	bool metadata_was_full;    /* the same of a metadata ring; the user clears it */
	bool leaves_samples;       /* the round lacks samples: a drain thread's memory was full */
};

/* Copies the places. Fails only when out of memory. */
struct sp_error *ring_bank_init(struct ring_bank *bank, const struct ring_place *places,
				size_t count) SP_MUST_CHECK;
void ring_bank_deinit(struct ring_bank *bank);

/*
 * Maps all rings with the given bytes of data. SP_ERROR_LIMIT: they exceed the limit of locked
 * memory. After an error, no ring is mapped.
 */
struct sp_error *ring_bank_map(struct ring_bank *bank, size_t metadata_bytes,
			       size_t sample_bytes) SP_MUST_CHECK;

/* Returns the bytes of data of each sample ring; 0: none is mapped. */
static inline uint64_t ring_bank_sample_bytes(const struct ring_bank *bank)
{
	return bank->count ? bank->samples[0].size : 0;
}

/* Returns the bytes of data of all rings. */
static inline uint64_t ring_bank_bytes(const struct ring_bank *bank)
{
	return bank->count ? bank->count * (bank->samples[0].size + bank->metadata[0].size) : 0;
}

/* Threads that drain the sample rings. */
struct ring_bank_drain_threads {
	size_t threads;            /* number of `groups`; 0: no thread */
	const uint32_t *groups;    /* the thread of each CPU */
	uint32_t stack_bytes;      /* copied into each sample */
	bool polls;                /* see struct drain_threads_options */
	bool every_sample;         /* the round is woken for each sample */
	uint32_t realtime;         /* priority, as in thread_priority_begin() */
	/* Hooks of the threads, as in struct drain_threads_options. */
	void (*on_arrival)(void *arg, void *state, const struct ring *ring, uint64_t end);
	void *(*new_state)(void *arg);
	void (*free_state)(void *state);
	void *arg;
};

/* Starts them; call it at most once. The rings must be mapped. */
struct sp_error *
ring_bank_start_drain_threads(struct ring_bank *bank,
			      const struct ring_bank_drain_threads *options) SP_MUST_CHECK;

/*
 * Copies samples before they are read, if records are to be changed from now on: the kernel's rings
 * are read-only. Call it after each change of `rewrite`.
 */
struct sp_error *ring_bank_copy_changed(struct ring_bank *bank) SP_MUST_CHECK;

/*
 * Ends the samples of this round where the rings end now, after the drain threads moved theirs.
 * `samples` false: the round has none. Notes rings that were nearly full.
 */
void ring_bank_end_round(struct ring_bank *bank, bool samples);

/* Return the ring to read samples of a CPU from, and where this round ends in it. */
static inline struct ring *ring_bank_ring(const struct ring_bank *bank, size_t index)
{
	return bank->drain_threads ? drain_threads_ring(bank->drain_threads, index)
				   : &bank->samples[index];
}
static inline uint64_t ring_bank_end(const struct ring_bank *bank, size_t index)
{
	return bank->ends[index];
}

/* Returns the bytes of samples from the tails to the ends of this round. */
uint64_t ring_bank_round_bytes(const struct ring_bank *bank);

/*
 * Ends the samples of this round after `room` bytes, or where it ended without a limit, if that
 * comes first. Each ring gets the same share, which was filled in the same time. If no ring has a
 * record that short, the fullest ring gets all room. Returns whether the round has any record.
 */
bool ring_bank_limit(struct ring_bank *bank, uint64_t room);

/*
 * Does the same, but at one time in all rings: a thread's records of different CPUs stay in order.
 * Returns the time of the first record that is left out; UINT64_MAX: none is.
 */
uint64_t ring_bank_limit_in_time(struct ring_bank *bank, const struct record_fields *fields,
				 uint64_t room);

/*
 * Returns a file descriptor that is readable when threads have drained enough for a round; -1:
 * watch the sample rings' own file descriptors.
 */
int ring_bank_fd(const struct ring_bank *bank);
