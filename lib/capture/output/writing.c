/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chunks stand in a circle:
 *
 *	written ... submitted, and behind them the one that is open
 *
 * The open one is submitted when it is full, and to be committed while the thread has
 * little else to do: so a slow disk's queue holds chunks that are full, and a fast one's
 * thread is woken no more often than the file is committed.
 */
#include "capture/output/writing.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/vec.h"
#include "writer/spans.h"

/* A write worth a thread's waking, and larger than any record; with its head, whole pages. */
#define CHUNK_BYTES (((size_t)256 << 10) - 64)

/* Of chunks that are free, so many keep their memory. */
#define WARM_MAX 8

/* With so many submitted, one that is not full can wait. */
#define BACKLOG 2

struct writing_chunk {
	uint64_t used;
	uint8_t *trace; /* an AUXTRACE record and its trace instead of `bytes`, `used` of them */
	struct writing_change *change; /* before which all goes to one file, behind it to another */
	uint64_t build_id_bytes; /* to be reserved in its file */
	uint32_t file;  /* counts changes */
	bool commit; /* when it is written */
	_Alignas(64) uint8_t bytes[CHUNK_BYTES]; /* there, whatever the size of a pointer */
};

_Static_assert(sizeof(struct writing_chunk) == (size_t)256 << 10, "whole pages");

/* Samples that were left out since the queue was full. The drain's; no lock. */
struct shed {
	struct u64map index;        /* event id -> index in `events` */
	struct { VEC(struct writing_shed); } events;
	size_t told;                /* events that were told since the last time */
	uint64_t samples;           /* of all events */
};

/* Bytes and samples of the files so far; protected by the lock of struct writing. */
struct file_totals {
	uint64_t file_bytes;        /* of the file that is written to */
	uint64_t queued_bytes;      /* queued for the last file */
	uint64_t queued_before;     /* queued for other files */
	uint64_t begin_bytes;       /* of the last file, as long as it does not exist */
	uint64_t bytes_before;      /* of files that are complete */
	uint64_t unwritten, unwritten_before;
};

struct writing {
	uint32_t sample_id_at, sample_cpu_at;
	pthread_t thread;
	bool has_thread;
	struct writing_chunk *open; /* being filled; NULL: none */
	uint64_t limit;             /* chunks, as long as samples are taken; of others twice that */
	struct shed shed;
	uint64_t waits;
	uint64_t build_id_bytes;

	pthread_mutex_t lock;       /* of all below */
	pthread_cond_t more, less;
	struct writer *writer;      /* the thread's, once it is set */
	struct writing_chunk **circle; /* 2 * limit of them */
	uint64_t submitted, written;   /* counted; places are modulo 2 * limit */
	/* One more than the circle holds, in one mapping: of what was not used there is no page. */
	struct writing_chunk *chunks;
	struct { VEC(struct writing_chunk *); } spare; /* last in, first out */
	struct sp_error *error;     /* atomic; not told yet */
	bool begun;                 /* by writing_begin() */
	bool publish;               /* the thread shall publish the file */
	struct file_totals totals;
	uint32_t changes, changed;  /* asked for, made */
	bool over;                  /* the thread is to end */
	bool at_once;               /* whatever is left */
};

DEFINE_CLEANUP(struct writing *, writing_free)

/* -- The thread ------------------------------------------------------------ */

/* There is no file: of what would be in it, samples are counted. */
static struct sp_error *refuse(struct writing *writing, const struct iovec *span)
{
	uint64_t samples = spans_count_records(span, 1, 0, PERF_RECORD_SAMPLE);
	pthread_mutex_lock(&writing->lock);
	writing->totals.unwritten_before += samples;
	pthread_mutex_unlock(&writing->lock);
	return NULL;
}

static struct sp_error *make_change(struct writing *writing, struct writing_change *change)
{
	struct writer *old = writing->writer, *next = NULL;
	uint64_t bytes = old ? writer_size(old) : 0;
	uint64_t unwritten = old ? writer_unwritten_samples(old) : 0;
	struct sp_error *error = change->make(change, old, &next);
	pthread_mutex_lock(&writing->lock);
	writing->writer = next;
	writing->changed++;
	writing->totals.bytes_before += bytes;
	writing->totals.unwritten_before += unwritten;
	pthread_mutex_unlock(&writing->lock);
	change->free(change);
	return error;
}

static struct sp_error *put(struct writing *writing, struct writing_chunk *chunk)
{
	struct iovec span = {(void *)(uintptr_t)chunk->bytes, chunk->used};
	struct sp_error *error = NULL;
	if (chunk->change)
		return make_change(writing, take_ptr(chunk->change));
	struct writer *writer = writing->writer;
	if (!writer)
		return refuse(writing, &span);
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
static void see_error(struct writing *writing, struct sp_error *error)
{
	if (writing->error)
		sp_error_free(error);
	else
		__atomic_store_n(&writing->error, error, __ATOMIC_RELAXED);
}

/* The chunk is done with; the lock is held. */
static void see_written(struct writing *writing, struct writing_chunk *chunk, uint64_t used,
			struct sp_error *error)
{
	writing->written++;
	struct file_totals *totals = &writing->totals;
	*(chunk->file == writing->changes ? &totals->queued_bytes : &totals->queued_before) -= used;
	totals->file_bytes = writing->writer ? writer_size(writing->writer) : 0;
	totals->unwritten = writing->writer ? writer_unwritten_samples(writing->writer) : 0;
	see_error(writing, error);
	*vec_push(&writing->spare) = chunk; /* there was made room for all */
	pthread_cond_signal(&writing->less);
}

/* The lock is held. */
static void publish(struct writing *writing)
{
	writing->publish = false;
	pthread_mutex_unlock(&writing->lock);
	struct sp_error *error = writing->writer ? writer_publish(writing->writer) : NULL;
	pthread_mutex_lock(&writing->lock);
	see_error(writing, error);
}

static bool has_work(const struct writing *writing)
{
	return writing->begun && (writing->publish || writing->written < writing->submitted);
}

static void *work(void *arg)
{
	struct writing *writing = arg;
	pthread_mutex_lock(&writing->lock);
	for (;;) {
		while (!writing->over && !has_work(writing))
			pthread_cond_wait(&writing->more, &writing->lock);
		if (writing->over && (writing->at_once || !has_work(writing)))
			break;
		if (writing->publish) {
			publish(writing);
			continue;
		}
		struct writing_chunk *chunk =
			writing->circle[writing->written % (2 * writing->limit)];
		bool behind = writing->submitted - writing->written > WARM_MAX;
		pthread_mutex_unlock(&writing->lock);
		struct sp_error *error = put(writing, chunk);
		/* So that the memory that a slow disk took is not kept for good. */
		uint64_t used = chunk->used;
		free(take_ptr(chunk->trace));
		if (behind)
			madvise(chunk, sizeof(*chunk), MADV_DONTNEED);
		pthread_mutex_lock(&writing->lock);
		see_written(writing, chunk, used, error);
	}
	pthread_mutex_unlock(&writing->lock);
	return NULL;
}

static struct sp_error *start_thread(struct writing *writing)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int errnum = pthread_create(&writing->thread, NULL, work, writing);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	writing->has_thread = !errnum;
	return errnum ? error_os(errnum, "cannot make a thread") : NULL;
}

static void end_thread(struct writing *writing, bool at_once)
{
	if (!writing->has_thread)
		return;
	pthread_mutex_lock(&writing->lock);
	writing->over = true;
	writing->at_once = at_once;
	pthread_cond_signal(&writing->more);
	pthread_mutex_unlock(&writing->lock);
	pthread_join(writing->thread, NULL);
	writing->has_thread = false;
}

/* -- The queue ------------------------------------------------------------- */

static bool make_chunks(struct writing *writing, size_t count)
{
	size_t size = count * sizeof(*writing->chunks);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	writing->chunks = memory;
	for (size_t i = count; i > 0; i--)
		*vec_push(&writing->spare) = &writing->chunks[i - 1];
	return true;
}

struct sp_error *writing_new(const struct writing_options *options, struct writing **ret)
{
	struct writing *made = calloc(1, sizeof(*made));
	if (!made)
		return error_no_memory();
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->more, NULL);
	pthread_cond_init(&made->less, NULL);
	CLEANUP(cleanup_writing_free) struct writing *writing = made;
	writing->sample_id_at = options->sample_id_at;
	writing->sample_cpu_at = options->sample_cpu_at;
	writing->limit = options->memory_bytes / sizeof(struct writing_chunk);
	if (writing->limit < BACKLOG + 1)
		writing->limit = BACKLOG + 1;
	size_t count = 2 * writing->limit + 1;
	writing->circle = calloc(count, sizeof(*writing->circle));
	if (!writing->circle || !vec_reserve(&writing->spare, count) || !make_chunks(writing, count))
		return error_no_memory();
	struct sp_error *error = start_thread(writing);
	if (!error)
		*ret = take_ptr(writing);
	return error;
}

static void drop(struct writing_chunk *chunk)
{
	free(chunk->trace);
	if (chunk->change)
		chunk->change->free(chunk->change);
}

void writing_free(struct writing *writing)
{
	if (!writing)
		return;
	end_thread(writing, true);
	for (; writing->circle && writing->written < writing->submitted; writing->written++)
		drop(writing->circle[writing->written % (2 * writing->limit)]);
	if (writing->chunks)
		munmap(writing->chunks, (2 * writing->limit + 1) * sizeof(*writing->chunks));
	vec_deinit(&writing->spare);
	free(writing->circle);
	vec_deinit(&writing->shed.events);
	u64map_deinit(&writing->shed.index);
	sp_error_free(writing->error);
	pthread_cond_destroy(&writing->more);
	pthread_cond_destroy(&writing->less);
	pthread_mutex_destroy(&writing->lock);
	free(writing);
}

void writing_begin(struct writing *writing, struct writer *writer)
{
	pthread_mutex_lock(&writing->lock);
	writing->writer = writer;
	writing->begun = true;
	writing->totals.file_bytes = writer_size(writer);
	pthread_cond_signal(&writing->more);
	pthread_mutex_unlock(&writing->lock);
}

void writing_publish(struct writing *writing)
{
	pthread_mutex_lock(&writing->lock);
	writing->publish = true;
	pthread_cond_signal(&writing->more);
	pthread_mutex_unlock(&writing->lock);
}

/* What the thread has met since this was last asked. */
static struct sp_error *take_error(struct writing *writing)
{
	if (!__atomic_load_n(&writing->error, __ATOMIC_RELAXED))
		return NULL;
	pthread_mutex_lock(&writing->lock);
	struct sp_error *error = writing->error;
	__atomic_store_n(&writing->error, NULL, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&writing->lock);
	return error;
}

/* How many chunks are submitted and not written. */
static uint64_t backlog(struct writing *writing)
{
	pthread_mutex_lock(&writing->lock);
	uint64_t count = writing->submitted - writing->written;
	pthread_mutex_unlock(&writing->lock);
	return count;
}

/* Where the circle is full, this waits. */
static void submit(struct writing *writing)
{
	pthread_mutex_lock(&writing->lock);
	bool full = writing->submitted - writing->written == 2 * writing->limit;
	writing->waits += full;
	while (writing->submitted - writing->written == 2 * writing->limit)
		pthread_cond_wait(&writing->less, &writing->lock);
	writing->totals.queued_bytes += writing->open->used;
	writing->open->file = writing->changes;
	writing->open->build_id_bytes = writing->build_id_bytes;
	writing->circle[writing->submitted++ % (2 * writing->limit)] = take_ptr(writing->open);
	pthread_cond_signal(&writing->more);
	pthread_mutex_unlock(&writing->lock);
}

/* Makes `size` bytes of room in the open chunk; a submitted circle leaves one chunk at least. */
static void make_room(struct writing *writing, size_t size)
{
	if (writing->open && CHUNK_BYTES - writing->open->used < size)
		submit(writing);
	if (writing->open)
		return;
	pthread_mutex_lock(&writing->lock);
	writing->open = writing->spare.items[--writing->spare.count];
	pthread_mutex_unlock(&writing->lock);
	writing->open->used = 0;
	writing->open->commit = false;
	writing->open->trace = NULL;
	writing->open->change = NULL;
}

/* How many bytes of samples there is room for. */
static uint64_t room(struct writing *writing)
{
	uint64_t chunks = backlog(writing) + (writing->open != NULL);
	uint64_t open = writing->open ? CHUNK_BYTES - writing->open->used : 0;
	return chunks > writing->limit ? 0 : (writing->limit - chunks) * CHUNK_BYTES + open;
}

/* All of it, be there room or not. */
static void take_all(struct writing *writing, struct spans_place *place, uint64_t size)
{
	while (size) {
		/* As many whole records as fit; for one that does not, there is a new chunk. */
		uint64_t left = writing->open ? CHUNK_BYTES - writing->open->used : CHUNK_BYTES;
		uint64_t fitting = size <= left ? size : spans_whole_at(place, left);
		if (!fitting && left == CHUNK_BYTES)
			fitting = left; /* no records at all: the file's reader will say so */
		make_room(writing, fitting ? fitting : CHUNK_BYTES);
		spans_copy_next(place, writing->open->bytes + writing->open->used, fitting);
		writing->open->used += fitting;
		size -= fitting;
	}
}

/* What is there at that offset of a record; 0 if it is too short. */
static uint64_t word_at(struct spans_place place, const struct perf_event_header *header, uint32_t at)
{
	uint64_t word = 0;
	if (header->size < at + sizeof(word))
		return 0;
	spans_copy_next(&place, NULL, at);
	spans_copy_next(&place, &word, sizeof(word));
	return word;
}

/* A sample is left out. */
static bool shed(struct writing *writing, struct spans_place *place,
		 const struct perf_event_header *header)
{
	bool added;
	uint64_t id = word_at(*place, header, writing->sample_id_at);
	uint64_t cpu = word_at(*place, header, writing->sample_cpu_at);
	spans_copy_next(place, NULL, header->size);
	writing->shed.samples++;
	if (!vec_reserve(&writing->shed.events, writing->shed.events.count + 1))
		return false;
	const uint32_t *index = u64map_put(&writing->shed.index, id, (uint32_t)writing->shed.events.count,
					   &added);
	if (!index)
		return false;
	if (added)
		*vec_push(&writing->shed.events) = (struct writing_shed){.id = id};
	struct writing_shed *shed = &writing->shed.events.items[*index];
	if (!shed->samples++)
		memcpy(&shed->cpu, &cpu, sizeof(shed->cpu)); /* {cpu, 0} */
	return true;
}

/* Record by record: there is not room for all. */
static bool take_some(struct writing *writing, struct spans_place *place, uint64_t size)
{
	uint64_t left = room(writing);
	while (size) {
		struct perf_event_header header;
		struct spans_place at = *place;
		spans_copy_next(&at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > size)
			header = (struct perf_event_header){.size = (uint16_t)(size < 65528 ? size : 65528)};
		if (header.type != PERF_RECORD_SAMPLE || header.size <= left)
			take_all(writing, place, header.size);
		else if (!shed(writing, place, &header))
			return false;
		size -= header.size;
		left = left > header.size ? left - header.size : 0;
	}
	return true;
}

struct sp_error *writing_write(struct writing *writing, const struct iovec *spans, int count)
{
	struct spans_place place = {.spans = spans};
	uint64_t size = spans_size(spans, count);
	writing_poke(writing);
	bool good = true;
	if (size <= room(writing))
		take_all(writing, &place, size);
	else
		good = take_some(writing, &place, size);
	struct sp_error *error = take_error(writing);
	return error || good ? error : error_no_memory();
}

struct sp_error *writing_trace(struct writing *writing, const struct iovec *spans, int count,
			       bool *taken_ret)
{
	uint64_t size = spans_size(spans, count);
	*taken_ret = false;
	pthread_mutex_lock(&writing->lock);
	bool full = writing->totals.queued_bytes + size > writing->limit * CHUNK_BYTES &&
		    writing->totals.queued_bytes;
	pthread_mutex_unlock(&writing->lock);
	uint8_t *trace = full ? NULL : malloc(size);
	if (full)
		return take_error(writing);
	if (!trace)
		return error_no_memory();
	spans_copy(spans, trace, size);
	/* What was taken before comes before it. */
	bool commit = writing->open && writing->open->commit;
	if (writing->open)
		submit(writing);
	make_room(writing, 0);
	writing->open->trace = trace;
	writing->open->used = size;
	writing->open->commit = commit;
	submit(writing);
	*taken_ret = true;
	return take_error(writing);
}

void writing_reserve(struct writing *writing, uint64_t build_id_bytes)
{
	writing->build_id_bytes = build_id_bytes;
}

void writing_poke(struct writing *writing)
{
	if (writing->open && writing->open->commit && backlog(writing) < BACKLOG)
		submit(writing);
}

struct sp_error *writing_commit(struct writing *writing)
{
	make_room(writing, 0);
	writing->open->commit = true;
	writing_poke(writing);
	return take_error(writing);
}

struct sp_error *writing_change(struct writing *writing, struct writing_change *change,
				uint64_t begin_bytes)
{
	/* What was taken before belongs to the file that ends. */
	if (writing->open)
		submit(writing);
	make_room(writing, 0);
	writing->open->change = change;
	submit(writing);
	pthread_mutex_lock(&writing->lock);
	writing->changes++;
	writing->totals.queued_before += writing->totals.queued_bytes;
	writing->totals.queued_bytes = 0;
	writing->totals.begin_bytes = begin_bytes;
	pthread_mutex_unlock(&writing->lock);
	return take_error(writing);
}

struct sp_error *writing_settle(struct writing *writing)
{
	struct sp_error *error = writing_commit(writing);
	if (writing->open)
		submit(writing);
	pthread_mutex_lock(&writing->lock);
	while (writing->written < writing->submitted)
		pthread_cond_wait(&writing->less, &writing->lock);
	pthread_mutex_unlock(&writing->lock);
	return error_first(error, take_error(writing));
}

struct writer *writing_take_writer(struct writing *writing)
{
	end_thread(writing, true);
	return take_ptr(writing->writer);
}

struct sp_error *writing_end(struct writing *writing)
{
	if (!writing->begun)
		return NULL;
	if (writing->open)
		submit(writing);
	end_thread(writing, false);
	return take_error(writing);
}

/* -- What became of it ----------------------------------------------------- */

struct writing_counts writing_counts(const struct writing *writing)
{
	struct writing *unlocked = (struct writing *)(uintptr_t)writing;
	pthread_mutex_lock(&unlocked->lock);
	struct writing_counts counts = {
		.file_bytes = (writing->changed == writing->changes ? writing->totals.file_bytes
								    : writing->totals.begin_bytes) +
			      writing->totals.queued_bytes,
		.unwritten = writing->totals.unwritten_before + writing->totals.unwritten,
		.shed = writing->shed.samples,
		.waits = writing->waits,
	};
	counts.all_bytes = writing->totals.bytes_before + writing->totals.queued_before;
	if (writing->changed != writing->changes)
		counts.all_bytes += writing->totals.file_bytes;
	pthread_mutex_unlock(&unlocked->lock);
	counts.file_bytes += writing->open ? writing->open->used : 0;
	counts.all_bytes += counts.file_bytes;
	return counts;
}

bool writing_next_shed(struct writing *writing, bool now, struct writing_shed *ret)
{
	if (!writing->shed.events.count || (!now && room(writing) < CHUNK_BYTES))
		return false;
	for (; writing->shed.told < writing->shed.events.count; writing->shed.told++) {
		struct writing_shed *shed = &writing->shed.events.items[writing->shed.told];
		if (!shed->samples)
			continue;
		*ret = *shed;
		shed->samples = 0;
		return true;
	}
	writing->shed.told = 0;
	return false;
}
