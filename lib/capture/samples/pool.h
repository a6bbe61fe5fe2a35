/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thread pool for unwinding: the round's thread fills chunks of memory, threads work on them, and
 * it collects them in the order in which it filled them. Memory is bounded: pool_reserve() fails at
 * once if all is in use. The round's thread calls all functions; only the work runs in the others.
 */
#pragma once

#include "record/encode.h"

struct chunk {
	uint8_t *bytes;   /* aligned to 16 */
	size_t used;
	/*
	 * Oldest time of input and output. The round's thread sets it; the work lowers it
	 * atomically.
	 */
	uint64_t oldest_ns;
	struct record_buffer output; /* made by the work; empty before */
	struct sp_error *error;      /* error of the work; owned */
	bool done;
	bool resident; /* its bytes take memory */
};

struct pool_options {
	size_t workers;     /* at least 1 */
	size_t chunk_bytes; /* size of each chunk */
	size_t chunks;      /* limit of chunks; memory is used as needed */
	/* Works on a chunk. `worker`: from 0; calls with the same number never overlap. */
	void (*work)(void *arg, size_t worker, struct chunk *chunk);
	void *arg;
};

struct pool;

/* Starts the threads, which block all signals. Fails with SP_ERROR_OS if none can be started. */
struct sp_error *pool_new(const struct pool_options *options, struct pool **ret) SP_MUST_CHECK;
/* Waits for chunks in work, and drops the others. */
void pool_free(struct pool *pool);

/*
 * Reserves `size` bytes, a multiple of 8 up to chunk_bytes, in the chunk that is being filled:
 * *chunk_ret. NULL if all memory is in use.
 */
void *pool_reserve(struct pool *pool, size_t size, struct chunk **chunk_ret);

/*
 * Submits the open chunk to the workers. If another chunk waits for a worker, it is filled further
 * instead, because memory is used by whole chunks.
 */
void pool_submit(struct pool *pool);

/*
 * Does the same, also without an open chunk: submits an empty one if a chunk is free and no other
 * waits for a worker.
 */
void pool_nudge(struct pool *pool);

/*
 * Returns the next chunk in order if its work is done, else NULL. It is the caller's until
 * pool_release().
 */
struct chunk *pool_collect(struct pool *pool);
void pool_release(struct pool *pool, struct chunk *chunk);

/*
 * Frees the memory of some chunks that were unused since the last call. Call it every few seconds:
 * a burst may have left many.
 */
void pool_trim(struct pool *pool);

/* Waits until the work on all filled chunks is done. */
void pool_wait(struct pool *pool);

/* Returns the oldest time of all chunks that were not collected; UINT64_MAX: none. */
uint64_t pool_oldest_ns(const struct pool *pool);
