/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chunks form a circle: written ... submitted, and then the open one. The open chunk is submitted
 * when it is full. A chunk is also submitted to be committed if the thread has little other work.
 * So a slow disk's queue holds full chunks, and a fast disk's thread wakes no more often than the
 * file is committed.
 */
#include "capture/output/write_queue.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/pages.h"
#include "base/vec.h"
#include "writer/spans.h"

/* A chunk: large enough for a thread's waking, and for any record; with its head, whole pages. */
#define CHUNK_BYTES (((size_t)256 << 10) - 64)

/* Number of free chunks that keep their memory. */
#define WARM_MAX 8

/* If N chunks are submitted, a partly filled one can wait. */
#define BACKLOG 2

struct write_queue_chunk {
	uint64_t used;
	uint8_t *trace; /* an AUXTRACE record and its trace instead of `bytes`, `used` of them */
	struct write_queue_change *change; /* all later chunks go to the next file */
	uint64_t build_id_bytes; /* bytes to reserve in its file */
	uint32_t file;  /* number of file changes so far */
	bool commit; /* commit the file when it is written */
	_Alignas(64) uint8_t bytes[CHUNK_BYTES]; /* at one offset, whatever the size of a pointer */
};

_Static_assert(sizeof(struct write_queue_chunk) == (size_t)256 << 10, "whole pages");

/* Samples that were dropped because the queue was full. Only the round's thread uses it. */
struct dropped {
	struct u64map index;        /* event id -> index in `events` */
	struct { VEC(struct write_queue_dropped); } events;
	size_t reported;              /* events that were reported since the last time */
	uint64_t samples;           /* sum over all events */
};

/* Bytes and samples of the files so far; protected by the lock of struct write_queue. */
struct file_totals {
	uint64_t file_bytes;        /* size of the open file */
	uint64_t queued_bytes;      /* queued for the last file */
	uint64_t queued_before;     /* queued for other files */
	uint64_t begin_bytes;       /* start of the last file, until it exists */
	uint64_t bytes_before;      /* size of complete files */
	uint64_t unwritten, unwritten_before;
};

struct write_queue {
	uint32_t sample_id_at, sample_cpu_at;
	pthread_t thread;
	bool has_thread;
	struct write_queue_chunk *open; /* chunk that is being filled; NULL: none */
	uint64_t limit;             /* limit of chunks for samples; other records have twice that */
	struct dropped dropped;
	uint64_t waits;
	uint64_t build_id_bytes;

	pthread_mutex_t lock;       /* protects all members below */
	pthread_cond_t more, less;
	struct writer *writer;      /* the thread's, as soon as it is set */
	struct write_queue_chunk **circle; /* 2 * limit of them */
	uint64_t submitted, written;   /* counts of chunks; their place is modulo 2 * limit */
	/* one more than the circle holds, in one mapping: unused chunks have no pages */
	struct write_queue_chunk *chunks;
	struct { VEC(struct write_queue_chunk *); } spare; /* last in, first out */
	struct sp_error *error;     /* atomic; error that was not reported yet */
	bool begun;                 /* set by write_queue_begin() */
	bool publish;               /* the thread must publish the file */
	struct file_totals totals;
	uint32_t changes, changed;  /* file changes: requested, done */
	bool over;                  /* the thread must end */
	bool at_once;               /* the thread must end at once */
};

DEFINE_CLEANUP(struct write_queue *, write_queue_free)

/* -- The thread ------------------------------------------------------------ */

/* Counts the samples of a chunk as unwritten, because there is no file. */
static struct sp_error *refuse(struct write_queue *write_queue, const struct iovec *span)
{
	uint64_t samples = spans_count_samples(span, 1, 0);
	pthread_mutex_lock(&write_queue->lock);
	write_queue->totals.unwritten_before += samples;
	pthread_mutex_unlock(&write_queue->lock);
	return NULL;
}

static struct sp_error *make_change(struct write_queue *write_queue, struct write_queue_change *change)
{
	struct writer *old = write_queue->writer, *next = NULL;
	uint64_t bytes = old ? writer_size(old) : 0;
	uint64_t unwritten = old ? writer_unwritten_samples(old) : 0;
	struct sp_error *error = change->make(change, old, &next);
	pthread_mutex_lock(&write_queue->lock);
	write_queue->writer = next;
	write_queue->changed++;
	write_queue->totals.bytes_before += bytes;
	write_queue->totals.unwritten_before += unwritten;
	pthread_mutex_unlock(&write_queue->lock);
	change->free(change);
	return error;
}

static struct sp_error *put(struct write_queue *write_queue, struct write_queue_chunk *chunk)
{
	struct iovec span = {(void *)(uintptr_t)chunk->bytes, chunk->used};
	struct sp_error *error = NULL;
	if (chunk->change)
		return make_change(write_queue, take_ptr(chunk->change));
	struct writer *writer = write_queue->writer;
	if (!writer)
		return refuse(write_queue, &span);
	writer_reserve(writer, chunk->build_id_bytes);
	if (chunk->trace) {
		span.iov_base = chunk->trace;
		error = writer_write_auxtrace(writer, &span, 1);
	} else if (chunk->used) {
		error = writer_write(writer, &span, 1);
	}
	return !error && chunk->commit ? writer_commit(writer) : error;
}

/* The lock is held. */
static void on_error(struct write_queue *write_queue, struct sp_error *error)
{
	if (write_queue->error)
		sp_error_free(error);
	else
		__atomic_store_n(&write_queue->error, error, __ATOMIC_RELAXED);
}

/* The lock is held. */
static void publish(struct write_queue *write_queue)
{
	write_queue->publish = false;
	pthread_mutex_unlock(&write_queue->lock);
	struct sp_error *error = write_queue->writer ? writer_publish(write_queue->writer) : NULL;
	pthread_mutex_lock(&write_queue->lock);
	on_error(write_queue, error);
}

static bool has_work(const struct write_queue *write_queue)
{
	return write_queue->begun && (write_queue->publish || write_queue->written < write_queue->submitted);
}

static void *work(void *arg)
{
	struct write_queue *write_queue = arg;
	pthread_mutex_lock(&write_queue->lock);
	for (;;) {
		while (!write_queue->over && !has_work(write_queue))
			pthread_cond_wait(&write_queue->more, &write_queue->lock);
		if (write_queue->over && (write_queue->at_once || !has_work(write_queue)))
			break;
		if (write_queue->publish) {
			publish(write_queue);
			continue;
		}
		struct write_queue_chunk *chunk =
			write_queue->circle[write_queue->written % (2 * write_queue->limit)];
		bool behind = write_queue->submitted - write_queue->written > WARM_MAX;
		pthread_mutex_unlock(&write_queue->lock);
		struct sp_error *error = put(write_queue, chunk);
		/* Frees memory that the queue needed for a slow disk. */
		uint64_t used = chunk->used;
		free(take_ptr(chunk->trace));
		if (behind)
			madvise(chunk, sizeof(*chunk), MADV_DONTNEED);
		pthread_mutex_lock(&write_queue->lock);
		/* Releases a written chunk; the lock is held. */
		write_queue->written++;
		struct file_totals *totals = &write_queue->totals;
		*(chunk->file == write_queue->changes ? &totals->queued_bytes
						      : &totals->queued_before) -= used;
		totals->file_bytes = write_queue->writer ? writer_size(write_queue->writer) : 0;
		totals->unwritten =
			write_queue->writer ? writer_unwritten_samples(write_queue->writer) : 0;
		on_error(write_queue, error);
		*vec_push(&write_queue->spare) = chunk; /* vec_reserve() made room for all */
		pthread_cond_signal(&write_queue->less);
	}
	pthread_mutex_unlock(&write_queue->lock);
	return NULL;
}

static void end_thread(struct write_queue *write_queue, bool at_once)
{
	if (!write_queue->has_thread)
		return;
	pthread_mutex_lock(&write_queue->lock);
	write_queue->over = true;
	write_queue->at_once = at_once;
	pthread_cond_signal(&write_queue->more);
	pthread_mutex_unlock(&write_queue->lock);
	pthread_join(write_queue->thread, NULL);
	write_queue->has_thread = false;
}

/* -- The queue ------------------------------------------------------------- */

static bool make_chunks(struct write_queue *write_queue, size_t count)
{
	size_t size = count * sizeof(*write_queue->chunks);
	write_queue->chunks = pages_map(size);
	if (!write_queue->chunks)
		return false;
	for (size_t i = count; i > 0; i--)
		*vec_push(&write_queue->spare) = &write_queue->chunks[i - 1];
	return true;
}

struct sp_error *write_queue_new(const struct write_queue_options *options, struct write_queue **ret)
{
	struct write_queue *made = calloc(1, sizeof(*made));
	NEED(made);
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->more, NULL);
	pthread_cond_init(&made->less, NULL);
	CLEANUP(cleanup_write_queue_free) struct write_queue *write_queue = made;
	write_queue->sample_id_at = options->sample_id_at;
	write_queue->sample_cpu_at = options->sample_cpu_at;
	write_queue->limit = options->memory_bytes / sizeof(struct write_queue_chunk);
	if (write_queue->limit < BACKLOG + 1)
		write_queue->limit = BACKLOG + 1;
	size_t count = 2 * write_queue->limit + 1;
	write_queue->circle = calloc(count, sizeof(*write_queue->circle));
	NEED(write_queue->circle && vec_reserve(&write_queue->spare, count) &&
	     make_chunks(write_queue, count));
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int errnum = pthread_create(&write_queue->thread, NULL, work, write_queue);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	write_queue->has_thread = !errnum;
	struct sp_error *error = errnum ? error_os(errnum, "cannot make a thread") : NULL;
	if (!error)
		*ret = take_ptr(write_queue);
	return error;
}

void write_queue_free(struct write_queue *write_queue)
{
	if (!write_queue)
		return;
	end_thread(write_queue, true);
	for (; write_queue->circle && write_queue->written < write_queue->submitted;
	     write_queue->written++) {
		struct write_queue_chunk *chunk =
			write_queue->circle[write_queue->written % (2 * write_queue->limit)];
		free(chunk->trace);
		if (chunk->change)
			chunk->change->free(chunk->change);
	}
	if (write_queue->chunks)
		munmap(write_queue->chunks, (2 * write_queue->limit + 1) * sizeof(*write_queue->chunks));
	vec_deinit(&write_queue->spare);
	free(write_queue->circle);
	vec_deinit(&write_queue->dropped.events);
	u64map_deinit(&write_queue->dropped.index);
	sp_error_free(write_queue->error);
	pthread_cond_destroy(&write_queue->more);
	pthread_cond_destroy(&write_queue->less);
	pthread_mutex_destroy(&write_queue->lock);
	free(write_queue);
}

void write_queue_begin(struct write_queue *write_queue, struct writer *writer)
{
	pthread_mutex_lock(&write_queue->lock);
	write_queue->writer = writer;
	write_queue->begun = true;
	write_queue->totals.file_bytes = writer_size(writer);
	pthread_cond_signal(&write_queue->more);
	pthread_mutex_unlock(&write_queue->lock);
}

void write_queue_publish(struct write_queue *write_queue)
{
	pthread_mutex_lock(&write_queue->lock);
	write_queue->publish = true;
	pthread_cond_signal(&write_queue->more);
	pthread_mutex_unlock(&write_queue->lock);
}

/* Moves out the error that the thread had since the last call. */
static struct sp_error *take_error(struct write_queue *write_queue)
{
	if (!__atomic_load_n(&write_queue->error, __ATOMIC_RELAXED))
		return NULL;
	pthread_mutex_lock(&write_queue->lock);
	struct sp_error *error = write_queue->error;
	__atomic_store_n(&write_queue->error, NULL, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&write_queue->lock);
	return error;
}

/* Returns the number of chunks that are submitted and not written. */
static uint64_t backlog(struct write_queue *write_queue)
{
	pthread_mutex_lock(&write_queue->lock);
	uint64_t count = write_queue->submitted - write_queue->written;
	pthread_mutex_unlock(&write_queue->lock);
	return count;
}

/* Waits while the circle is full. */
static void submit(struct write_queue *write_queue)
{
	pthread_mutex_lock(&write_queue->lock);
	bool full = write_queue->submitted - write_queue->written == 2 * write_queue->limit;
	write_queue->waits += full;
	while (write_queue->submitted - write_queue->written == 2 * write_queue->limit)
		pthread_cond_wait(&write_queue->less, &write_queue->lock);
	write_queue->totals.queued_bytes += write_queue->open->used;
	write_queue->open->file = write_queue->changes;
	write_queue->open->build_id_bytes = write_queue->build_id_bytes;
	write_queue->circle[write_queue->submitted++ % (2 * write_queue->limit)] =
		take_ptr(write_queue->open);
	pthread_cond_signal(&write_queue->more);
	pthread_mutex_unlock(&write_queue->lock);
}

/* Makes `size` bytes of room in the open chunk. The circle always has room for it. */
static void make_room(struct write_queue *write_queue, size_t size)
{
	if (write_queue->open && CHUNK_BYTES - write_queue->open->used < size)
		submit(write_queue);
	if (write_queue->open)
		return;
	pthread_mutex_lock(&write_queue->lock);
	write_queue->open = write_queue->spare.items[--write_queue->spare.count];
	pthread_mutex_unlock(&write_queue->lock);
	write_queue->open->used = 0;
	write_queue->open->commit = false;
	write_queue->open->trace = NULL;
	write_queue->open->change = NULL;
}

/* Returns the number of bytes that samples may still take. */
static uint64_t room(struct write_queue *write_queue)
{
	uint64_t chunks = backlog(write_queue) + (write_queue->open != NULL);
	uint64_t open = write_queue->open ? CHUNK_BYTES - write_queue->open->used : 0;
	return chunks > write_queue->limit ? 0 : (write_queue->limit - chunks) * CHUNK_BYTES + open;
}

/* Copies all bytes, even beyond the limit. */
static void copy_all(struct write_queue *write_queue, struct spans_place *place, uint64_t size)
{
	while (size) {
		/* Copies whole records that fit, and begins a new chunk for one that does not. */
		uint64_t left = write_queue->open ? CHUNK_BYTES - write_queue->open->used : CHUNK_BYTES;
		uint64_t fitting = size <= left ? size : spans_whole_at(place, left);
		if (!fitting && left == CHUNK_BYTES)
			fitting = left; /* the bytes are no records: the file's reader will report
					 * it */
		make_room(write_queue, fitting ? fitting : CHUNK_BYTES);
		spans_copy_next(place, write_queue->open->bytes + write_queue->open->used, fitting);
		write_queue->open->used += fitting;
		size -= fitting;
	}
}

/* Returns the word at an offset of a record; 0 if the record is too short. */
static uint64_t word_at(struct spans_place place, const struct perf_event_header *header, uint32_t at)
{
	uint64_t word = 0;
	if (header->size < at + sizeof(word))
		return 0;
	spans_copy_next(&place, NULL, at);
	spans_copy_next(&place, &word, sizeof(word));
	return word;
}

/* Drops a sample, and counts it. */
static bool drop_sample(struct write_queue *write_queue, struct spans_place *place,
			const struct perf_event_header *header)
{
	uint64_t id = word_at(*place, header, write_queue->sample_id_at);
	uint64_t cpu = word_at(*place, header, write_queue->sample_cpu_at);
	spans_copy_next(place, NULL, header->size);
	struct dropped *all = &write_queue->dropped;
	all->samples++;
	struct write_queue_dropped *dropped = u64map_item(&all->index, id, &all->events);
	if (!dropped)
		return false;
	dropped->id = id;
	if (!dropped->samples++)
		memcpy(&dropped->cpu, &cpu, sizeof(dropped->cpu)); /* {cpu, 0} */
	return true;
}

/* Copies record by record, because not all have room. Drops samples that do not fit. */
static bool copy_fitting(struct write_queue *write_queue, struct spans_place *place, uint64_t size)
{
	uint64_t left = room(write_queue);
	while (size) {
		struct perf_event_header header;
		struct spans_place at = *place;
		spans_copy_next(&at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > size)
			header = (struct perf_event_header){.size = (uint16_t)(size < 65528 ? size : 65528)};
		if (header.type != PERF_RECORD_SAMPLE || header.size <= left)
			copy_all(write_queue, place, header.size);
		else if (!drop_sample(write_queue, place, &header))
			return false;
		size -= header.size;
		left = left > header.size ? left - header.size : 0;
	}
	return true;
}

struct sp_error *write_queue_write(struct write_queue *write_queue, const struct iovec *spans, int count)
{
	struct spans_place place = {.spans = spans};
	uint64_t size = spans_size(spans, count);
	write_queue_poke(write_queue);
	bool good = true;
	if (size <= room(write_queue))
		copy_all(write_queue, &place, size);
	else
		good = copy_fitting(write_queue, &place, size);
	struct sp_error *error = take_error(write_queue);
	return error || good ? error : error_no_memory();
}

struct sp_error *write_queue_trace(struct write_queue *write_queue, const struct iovec *spans, int count,
				   bool *taken_ret)
{
	uint64_t size = spans_size(spans, count);
	*taken_ret = false;
	pthread_mutex_lock(&write_queue->lock);
	bool full = write_queue->totals.queued_bytes + size > write_queue->limit * CHUNK_BYTES &&
		    write_queue->totals.queued_bytes;
	pthread_mutex_unlock(&write_queue->lock);
	uint8_t *trace = full ? NULL : malloc(size);
	if (full)
		return take_error(write_queue);
	NEED(trace);
	spans_copy(spans, trace, size);
	/* Records written earlier precede it. */
	bool commit = write_queue->open && write_queue->open->commit;
	if (write_queue->open)
		submit(write_queue);
	make_room(write_queue, 0);
	write_queue->open->trace = trace;
	write_queue->open->used = size;
	write_queue->open->commit = commit;
	submit(write_queue);
	*taken_ret = true;
	return take_error(write_queue);
}

void write_queue_reserve(struct write_queue *write_queue, uint64_t build_id_bytes)
{
	write_queue->build_id_bytes = build_id_bytes;
}

void write_queue_poke(struct write_queue *write_queue)
{
	if (write_queue->open && write_queue->open->commit && backlog(write_queue) < BACKLOG)
		submit(write_queue);
}

struct sp_error *write_queue_commit(struct write_queue *write_queue)
{
	make_room(write_queue, 0);
	write_queue->open->commit = true;
	write_queue_poke(write_queue);
	return take_error(write_queue);
}

struct sp_error *write_queue_change(struct write_queue *write_queue, struct write_queue_change *change,
				    uint64_t begin_bytes)
{
	/* Records written earlier belong to the file that ends. */
	if (write_queue->open)
		submit(write_queue);
	make_room(write_queue, 0);
	write_queue->open->change = change;
	submit(write_queue);
	pthread_mutex_lock(&write_queue->lock);
	write_queue->changes++;
	write_queue->totals.queued_before += write_queue->totals.queued_bytes;
	write_queue->totals.queued_bytes = 0;
	write_queue->totals.begin_bytes = begin_bytes;
	pthread_mutex_unlock(&write_queue->lock);
	return take_error(write_queue);
}

struct sp_error *write_queue_flush(struct write_queue *write_queue)
{
	struct sp_error *error = write_queue_commit(write_queue);
	if (write_queue->open)
		submit(write_queue);
	pthread_mutex_lock(&write_queue->lock);
	while (write_queue->written < write_queue->submitted)
		pthread_cond_wait(&write_queue->less, &write_queue->lock);
	pthread_mutex_unlock(&write_queue->lock);
	return error_first(error, take_error(write_queue));
}

struct writer *write_queue_take_writer(struct write_queue *write_queue)
{
	end_thread(write_queue, true);
	return take_ptr(write_queue->writer);
}

struct sp_error *write_queue_end(struct write_queue *write_queue)
{
	if (!write_queue->begun)
		return NULL;
	if (write_queue->open)
		submit(write_queue);
	end_thread(write_queue, false);
	return take_error(write_queue);
}

/* -- Results ----------------------------------------------------------------- */

struct write_queue_counts write_queue_counts(const struct write_queue *write_queue)
{
	struct write_queue *unlocked = (struct write_queue *)(uintptr_t)write_queue;
	pthread_mutex_lock(&unlocked->lock);
	struct write_queue_counts counts = {
		.file_bytes = (write_queue->changed == write_queue->changes ? write_queue->totals.file_bytes
								    : write_queue->totals.begin_bytes) +
			      write_queue->totals.queued_bytes,
		.unwritten = write_queue->totals.unwritten_before + write_queue->totals.unwritten,
		.dropped = write_queue->dropped.samples,
		.waits = write_queue->waits,
	};
	counts.all_bytes = write_queue->totals.bytes_before + write_queue->totals.queued_before;
	if (write_queue->changed != write_queue->changes)
		counts.all_bytes += write_queue->totals.file_bytes;
	pthread_mutex_unlock(&unlocked->lock);
	counts.file_bytes += write_queue->open ? write_queue->open->used : 0;
	counts.all_bytes += counts.file_bytes;
	return counts;
}

bool write_queue_next_dropped(struct write_queue *write_queue, bool now, struct write_queue_dropped *ret)
{
	if (!write_queue->dropped.events.count || (!now && room(write_queue) < CHUNK_BYTES))
		return false;
	struct dropped *all = &write_queue->dropped;
	for (; all->reported < all->events.count; all->reported++) {
		struct write_queue_dropped *dropped = &all->events.items[all->reported];
		if (!dropped->samples)
			continue;
		*ret = *dropped;
		dropped->samples = 0;
		return true;
	}
	all->reported = 0;
	return false;
}
