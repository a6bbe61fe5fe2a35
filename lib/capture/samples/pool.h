/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work that the drain hands to threads: chunks of memory, filled by the one, worked
 * on by the others, and taken back in the order in which they were filled. Of bounded
 * size: pool_reserve() fails at once when all of it is in use.
 *
 * All functions are the drain's, but for the work itself.
 */
#ifndef CAPTURE_SAMPLES_POOL_H
#define CAPTURE_SAMPLES_POOL_H

#include "record/encode.h"

struct chunk {
	uint8_t *bytes;   /* aligned to 16 */
	size_t used;
	/* Oldest time of input and output. The drain sets it; the work lowers it atomically. */
	uint64_t oldest_ns;
	struct record_buffer output; /* made by the work; empty before */
	struct sp_error *error;      /* the work's, if any; owned */
	bool done;
	bool resident; /* its bytes take memory */
};

struct pool_options {
	size_t workers;     /* at least 1 */
	size_t chunk_bytes; /* size of each chunk */
	size_t chunks;      /* at most; memory is taken as it is needed */
	/* Works on a chunk; `worker` from 0. No two of one number at a time. */
	void (*work)(void *arg, size_t worker, struct chunk *chunk);
	void *arg;
};

struct pool;

/* The threads take no signals. Fails with SP_ERROR_OS where none can be made. */
struct sp_error *pool_new(const struct pool_options *options, struct pool **ret) SP_MUST_CHECK;
/* Waits for what is being worked on, no more. */
void pool_free(struct pool *pool);

/*
 * Room for `size` bytes, up to chunk_bytes, in the chunk that is being filled: *chunk_ret.
 * A multiple of 8. NULL where all memory is in use.
 */
void *pool_reserve(struct pool *pool, size_t size, struct chunk **chunk_ret);

/*
 * Starts work on the open chunk. While other work waits for a worker, the chunk is filled further:
 * memory is taken by whole chunks.
 */
void pool_submit(struct pool *pool);

/*
 * The same, be there anything or not: the work is called with an empty chunk, if one is free
 * and no other waits for it.
 */
void pool_nudge(struct pool *pool);

/* The next chunk in order, if its work is done; NULL otherwise. It is the caller's until: */
struct chunk *pool_collect(struct pool *pool);
void pool_release(struct pool *pool, struct chunk *chunk);

/*
 * Frees the memory of some chunks that were not needed since the last call. Call it every few
 * seconds: a burst may have left many.
 */
void pool_trim(struct pool *pool);

/* Until all that was filled is done. */
void pool_wait(struct pool *pool);

/* The time of the oldest that has not been collected; UINT64_MAX: there is none. */
uint64_t pool_oldest_ns(const struct pool *pool);

/* CPU time that the threads have used. */
uint64_t pool_cpu_ns(const struct pool *pool);

#endif
