/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Submitted chunks form a circle, in order: collected ... taken ... submitted. Workers take chunks
 * from the middle; the round's thread collects finished ones in order. Free chunks are reused last
 * in, first out, because the last one is in the caches.
 */
#include "capture/samples/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/pages.h"

/* Number of free chunks that keep their memory, and limit of one trim: a round must not wait. */
#define FREE_KEPT 16
#define TRIMMED_MOST 16

/* Larger outputs are freed instead of reused. */
#define OUTPUT_KEPT ((size_t)1 << 20)

struct pool_worker {
	struct pool *pool;
	size_t index;
	pthread_t thread;
};

struct pool {
	struct pool_options options;
	struct pool_worker *workers;
	size_t worker_count;    /* running workers */
	struct chunk *open;     /* being filled, or NULL */
	size_t chunk_count;     /* chunks so far */
	uint8_t *memory;        /* memory of all chunks; unused chunks have no pages */
	VEC(struct chunk *) free_chunks;
	size_t least_free;      /* first chunks that were not used since the last trim */
	pthread_mutex_t lock;   /* protects all members below */
	pthread_cond_t more, less;
	struct chunk **circle;  /* options.chunks of them */
	uint64_t submitted, taken, collected; /* counted; places are modulo options.chunks */
	uint64_t finished;
	bool waiting;           /* pool_wait() waits for `less` */
	bool over;
};

DEFINE_CLEANUP(struct pool *, pool_free)

static void *work(void *arg)
{
	const struct pool_worker *worker = arg;
	struct pool *pool = worker->pool;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (!pool->over && pool->taken == pool->submitted)
			pthread_cond_wait(&pool->more, &pool->lock);
		if (pool->over)
			break;
		struct chunk *chunk = pool->circle[pool->taken++ % pool->options.chunks];
		pthread_mutex_unlock(&pool->lock);
		pool->options.work(pool->options.arg, worker->index, chunk);
		pthread_mutex_lock(&pool->lock);
		chunk->done = true;
		pool->finished++;
		if (pool->waiting && pool->finished == pool->submitted)
			pthread_cond_signal(&pool->less);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Starts at least one worker, or fails. */
static struct sp_error *start_workers(struct pool *pool)
{
	sigset_t all, before;
	int errnum = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (pool->worker_count < pool->options.workers && !errnum) {
		struct pool_worker *worker = &pool->workers[pool->worker_count];
		*worker = (struct pool_worker){.pool = pool, .index = pool->worker_count};
		errnum = pthread_create(&worker->thread, NULL, work, worker);
		pool->worker_count += !errnum;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pool->worker_count ? NULL : error_os(errnum, "cannot make a thread");
}

/*
 * Maps all chunks at once. If chunks were mapped one by one, as malloc() does, the round would wait
 * for workers that map files just then, and they for a CPU.
 */
static bool map_memory(struct pool *pool)
{
	pool->memory = pages_map(pool->options.chunks * pool->options.chunk_bytes);
	return pool->memory != NULL;
}

struct sp_error *pool_new(const struct pool_options *options, struct pool **ret)
{
	struct pool *made = calloc(1, sizeof(*made));
	NEED(made);
	made->options = *options;
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->more, NULL);
	pthread_cond_init(&made->less, NULL);
	CLEANUP(cleanup_pool_free) struct pool *pool = made;
	pool->workers = calloc(options->workers, sizeof(*pool->workers));
	pool->circle = calloc(options->chunks, sizeof(*pool->circle));
	NEED(pool->workers && pool->circle && vec_reserve(&pool->free_chunks, options->chunks) &&
	     map_memory(pool));
	struct sp_error *error = start_workers(pool);
	if (!error)
		*ret = take_ptr(pool);
	return error;
}

static void chunk_free(struct chunk *chunk)
{
	if (!chunk)
		return;
	vec_deinit(&chunk->output);
	sp_error_free(chunk->error);
	free(chunk);
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->over = true;
	pthread_cond_broadcast(&pool->more);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < pool->worker_count; i++)
		pthread_join(pool->workers[i].thread, NULL);
	for (; pool->collected < pool->submitted; pool->collected++)
		chunk_free(pool->circle[pool->collected % pool->options.chunks]);
	vec_each (free_chunk, &pool->free_chunks)
		chunk_free(*free_chunk);
	chunk_free(pool->open);
	if (pool->memory)
		munmap(pool->memory, pool->options.chunks * pool->options.chunk_bytes);
	vec_deinit(&pool->free_chunks);
	free(pool->circle);
	free(pool->workers);
	pthread_cond_destroy(&pool->more);
	pthread_cond_destroy(&pool->less);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

/* Returns a free chunk, or a new one; NULL at the limit, or when out of memory. */
static struct chunk *chunk_get(struct pool *pool)
{
	if (pool->free_chunks.count) {
		size_t left = --pool->free_chunks.count;
		pool->least_free = left < pool->least_free ? left : pool->least_free;
		return pool->free_chunks.items[left];
	}
	if (pool->chunk_count == pool->options.chunks)
		return NULL;
	struct chunk *chunk = calloc(1, sizeof(*chunk));
	if (chunk)
		chunk->bytes = pool->memory + pool->chunk_count++ * pool->options.chunk_bytes;
	return chunk;
}

static void submit(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->circle[pool->submitted++ % pool->options.chunks] = take_ptr(pool->open);
	pthread_cond_signal(&pool->more);
	pthread_mutex_unlock(&pool->lock);
}

void *pool_reserve(struct pool *pool, size_t size, struct chunk **chunk_ret)
{
	if (pool->open && pool->options.chunk_bytes - pool->open->used < size)
		submit(pool);
	if (!pool->open) {
		pool->open = chunk_get(pool);
		if (!pool->open)
			return NULL;
		pool->open->used = 0;
		pool->open->oldest_ns = UINT64_MAX;
		pool->open->done = false;
		pool->open->resident = true;
	}
	void *room = pool->open->bytes + pool->open->used;
	pool->open->used += size;
	*chunk_ret = pool->open;
	return room;
}

/* Returns whether a chunk waits for a worker. */
static bool is_behind(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	bool behind = pool->taken < pool->submitted;
	pthread_mutex_unlock(&pool->lock);
	return behind;
}

void pool_submit(struct pool *pool)
{
	if (pool->open && pool->open->used && !is_behind(pool))
		submit(pool);
}

void pool_nudge(struct pool *pool)
{
	struct chunk *chunk;
	if (!is_behind(pool) && pool_reserve(pool, 0, &chunk))
		submit(pool);
}

struct chunk *pool_collect(struct pool *pool)
{
	struct chunk *chunk = NULL;
	pthread_mutex_lock(&pool->lock);
	if (pool->collected < pool->submitted) {
		chunk = pool->circle[pool->collected % pool->options.chunks];
		if (chunk->done)
			pool->collected++;
		else
			chunk = NULL;
	}
	pthread_mutex_unlock(&pool->lock);
	return chunk;
}

void pool_trim(struct pool *pool)
{
	size_t unused = pool->least_free < pool->free_chunks.count ? pool->least_free :
								     pool->free_chunks.count;
	size_t trimmed = 0;
	for (size_t i = 0; i + FREE_KEPT < unused && trimmed < TRIMMED_MOST; i++) {
		struct chunk *chunk = pool->free_chunks.items[i];
		if (!chunk->resident)
			continue;
		madvise(chunk->bytes, pool->options.chunk_bytes, MADV_DONTNEED);
		vec_deinit(&chunk->output);
		chunk->resident = false;
		trimmed++;
	}
	pool->least_free = pool->free_chunks.count;
}

void pool_release(struct pool *pool, struct chunk *chunk)
{
	chunk->output.count = 0;
	if (chunk->output.capacity > OUTPUT_KEPT)
		vec_deinit(&chunk->output);
	*vec_push(&pool->free_chunks) = chunk; /* vec_reserve() made room for all */
}

void pool_wait(struct pool *pool)
{
	if (pool->open && pool->open->used)
		submit(pool);
	pthread_mutex_lock(&pool->lock);
	pool->waiting = true;
	while (pool->finished < pool->submitted)
		pthread_cond_wait(&pool->less, &pool->lock);
	pool->waiting = false;
	pthread_mutex_unlock(&pool->lock);
}

uint64_t pool_oldest_ns(const struct pool *pool)
{
	/* Only the round's thread calls this, and only it changes the list of chunks. */
	uint64_t oldest_ns = pool->open && pool->open->used ? pool->open->oldest_ns : UINT64_MAX;
	for (uint64_t i = pool->collected; i < pool->submitted; i++) {
		const struct chunk *chunk = pool->circle[i % pool->options.chunks];
		uint64_t chunk_ns = __atomic_load_n(&chunk->oldest_ns, __ATOMIC_SEQ_CST);
		if (chunk_ns < oldest_ns)
			oldest_ns = chunk_ns;
	}
	return oldest_ns;
}
