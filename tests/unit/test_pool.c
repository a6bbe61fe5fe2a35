/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/samples/pool.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "test.h"

#define CHUNK 4096

struct job {
	pthread_mutex_t gate; /* held: the work waits */
	bool slow;
};

/* Repeats what is there. */
static void repeat(void *arg, size_t worker, struct chunk *chunk)
{
	struct job *job = arg;
	(void)worker;
	pthread_mutex_lock(&job->gate);
	pthread_mutex_unlock(&job->gate);
	if (job->slow && chunk->bytes[0] % 3 == 0)
		usleep(500);
	if (!chunk->used || !vec_reserve(&chunk->output, chunk->used))
		return;
	memcpy(chunk->output.items, chunk->bytes, chunk->used);
	chunk->output.count = chunk->used;
}

static struct pool *pool_or_fail(struct job *job, size_t workers, size_t chunks)
{
	const struct pool_options options = {.workers = workers, .chunk_bytes = CHUNK,
					     .chunks = chunks, .work = repeat, .arg = job};
	struct pool *pool;
	pthread_mutex_init(&job->gate, NULL);
	ok_or_fail(pool_new(&options, &pool));
	return pool;
}

static bool put(struct pool *pool, size_t size, uint64_t time_ns)
{
	struct chunk *chunk;
	uint8_t *room = pool_reserve(pool, size, &chunk);
	if (!room)
		return false;
	memset(room, (int)time_ns & 0xff, size);
	if (time_ns < chunk->oldest_ns)
		chunk->oldest_ns = time_ns;
	return true;
}

TEST(records_come_out_in_order)
{
	for (size_t workers = 1; workers <= 4; workers += 3) {
		struct job job = {.slow = true};
		struct pool *pool = pool_or_fail(&job, workers, 8);
		uint64_t in = 0, out = 0;
		size_t at = 0;
		while (out < 600) {
			struct chunk *chunk;
			while (in < 600 && put(pool, 1000, in))
				in++;
			pool_submit(pool);
			while ((chunk = pool_collect(pool))) {
				for (at = 0; at < chunk->output.count; at += 1000, out++)
					if (chunk->output.items[at] != (out & 0xff))
						ck_abort_msg("%d is out of order", (int)out);
				pool_release(pool, chunk);
			}
			ck_assert_uint_eq(pool_oldest_ns(pool) == UINT64_MAX, in == out);
			if (in > out)
				ck_assert_uint_eq(pool_oldest_ns(pool), out);
		}
		pool_free(pool);
	}
}

TEST(the_producer_of_a_full_pool_is_notified_and_never_waits)
{
	struct job job = {0};
	struct pool *pool = pool_or_fail(&job, 2, 4);
	pthread_mutex_lock(&job.gate);
	size_t count = 0;
	while (put(pool, CHUNK, count))
		count++;
	ck_assert_uint_eq(count, 4);
	ck_assert(!put(pool, 8, 9));
	ck_assert_ptr_null(pool_collect(pool));
	pthread_mutex_unlock(&job.gate);
	pool_submit(pool);
	pool_wait(pool);
	for (size_t i = 0; i < 4; i++) {
		struct chunk *chunk = pool_collect(pool);
		ck_assert_ptr_nonnull(chunk);
		pool_release(pool, chunk);
	}
	ck_assert_ptr_null(pool_collect(pool));
	ck_assert(put(pool, 8, 9));
	pool_free(pool); /* with something in it */
}

TEST(it_can_be_left_at_any_time)
{
	for (int i = 0; i < 100; i++) {
		struct job job = {.slow = true};
		struct pool *pool = pool_or_fail(&job, 3, 16);
		for (int j = 0; j < i % 10; j++)
			ck_assert(put(pool, CHUNK - 96, 3));
		if (i & 1)
			pool_submit(pool);
		pool_free(pool);
	}
}

TEST(memory_of_a_burst_is_freed_after_it)
{
	struct job job = {0};
	struct pool *pool = pool_or_fail(&job, 1, 40);
	struct chunk *chunks[40];
	size_t kept = 0;
	for (uint64_t i = 0; i < 40; i++)
		ck_assert(put(pool, CHUNK, i));
	pool_submit(pool);
	pool_wait(pool);
	for (size_t i = 0; i < 40; i++) {
		chunks[i] = pool_collect(pool);
		pool_release(pool, chunks[i]);
	}
	/* Just now all were needed. */
	pool_trim(pool);
	for (size_t i = 0; i < 40; i++)
		ck_assert(chunks[i]->resident);
	for (int i = 0; i < 4; i++)
		pool_trim(pool);
	for (size_t i = 0; i < 40; i++)
		kept += chunks[i]->resident;
	ck_assert_uint_eq(kept, 16);
	/* The next is one that has its memory. */
	struct chunk *next;
	ck_assert_ptr_nonnull(pool_reserve(pool, 8, &next));
	ck_assert_ptr_eq(next, chunks[39]);
	pool_free(pool);
}

/* However small the pieces are in which it comes. */
TEST(a_late_worker_gets_whole_chunks)
{
	struct job job = {0};
	struct pool *pool = pool_or_fail(&job, 1, 8);
	pthread_mutex_lock(&job.gate);
	uint64_t count = 0;
	while (count < 7 * (CHUNK / 1000) && put(pool, 1000, count)) {
		pool_submit(pool);
		pool_nudge(pool);
		count++;
	}
	ck_assert_uint_ge(count, 5 * (CHUNK / 1000));
	pthread_mutex_unlock(&job.gate);
	pool_wait(pool);
	struct chunk *chunk;
	uint64_t done = 0;
	while ((chunk = pool_collect(pool))) {
		done += chunk->output.count / 1000;
		pool_release(pool, chunk);
	}
	ck_assert_uint_eq(done, count);
	pool_free(pool);
}
