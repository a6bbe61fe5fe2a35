/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Write queue: a thread of its own writes the file, so that a slow disk, or a slow reader of a
 * pipe, does not stop the round. Records are copied to a queue of bounded size. When it is full,
 * new SAMPLE records are dropped, and counted by event. Records of mappings, tasks, losses and
 * marks are kept, because samples that are written already need them. Only if these fill as much
 * again, the round waits, and the kernel counts the losses.
 *
 * The round's thread calls all functions.
 */
#pragma once

#include "base/error.h"
#include "writer/writer.h"

struct write_queue;

struct write_queue_options {
	size_t memory_bytes;   /* limit of queued samples; twice that for other records */
	uint32_t sample_id_at, sample_cpu_at; /* offsets of event id and CPU in a SAMPLE */
};

/* Starts the thread, which inherits this thread's scheduling and blocks all signals. */
struct sp_error *write_queue_new(const struct write_queue_options *options,
				 struct write_queue **ret) SP_MUST_CHECK;

/* Discards unwritten records, and waits for a write that has begun. NULL is allowed. */
void write_queue_free(struct write_queue *write_queue);

/* Gives the writer to the thread. Call it once. */
void write_queue_begin(struct write_queue *write_queue, struct writer *writer);

/*
 * Makes the thread call writer_publish(), because removing an old file of a gigabyte takes long. A
 * later call returns its error.
 */
void write_queue_publish(struct write_queue *write_queue);

/*
 * Copies whole records to the queue; they are written as by writer_write(). An error in the thread
 * is returned by a later call, but all records are accepted. After an error, each call may return
 * it.
 */
struct sp_error *write_queue_write(struct write_queue *write_queue, const struct iovec *spans,
				   int count) SP_MUST_CHECK;

/*
 * Copies an AUXTRACE record and its trace to the queue; they are never compressed. If the queue
 * already has as much as samples may take, does nothing, and *taken_ret is false. Errors: as
 * write_queue_write().
 */
struct sp_error *write_queue_trace(struct write_queue *write_queue, const struct iovec *spans, int count,
				   bool *taken_ret) SP_MUST_CHECK;

/* Makes the thread commit all earlier records once they are written. */
struct sp_error *write_queue_commit(struct write_queue *write_queue) SP_MUST_CHECK;

/* Makes the thread call writer_reserve() for the file of all later writes. */
void write_queue_reserve(struct write_queue *write_queue, uint64_t build_id_bytes);

/* Submits a partly filled chunk if the thread is idle. Call it in each round. */
void write_queue_poke(struct write_queue *write_queue);

/*
 * End of a file, and begin of the next. The thread does both when all earlier records are written:
 * closing and opening wait for the disk.
 */
struct write_queue_change {
	/*
	 * Closes `old` (NULL if the last change failed), and returns the next file's writer; NULL:
	 * all that follows is counted as unwritten.
	 */
	struct sp_error *(*make)(struct write_queue_change *change, struct writer *old,
				 struct writer **next_ret);
	void (*free)(struct write_queue_change *change); /* called in the end, whether or not the
							  * change was made */
};

/* Queues a change, and owns it from now on. `begin_bytes`: the next file's size at its begin. */
struct sp_error *write_queue_change(struct write_queue *write_queue, struct write_queue_change *change,
				    uint64_t begin_bytes) SP_MUST_CHECK;

/* Waits until all queued records are written and committed. */
struct sp_error *write_queue_flush(struct write_queue *write_queue) SP_MUST_CHECK;

/*
 * Ends the thread: at once, unless write_queue_end() was called before. Returns the writer, which
 * is the caller's again; NULL: there is none.
 */
struct writer *write_queue_take_writer(struct write_queue *write_queue);

/*
 * Waits until all is written and committed, and ends the thread, also on failure. Then
 * write_queue_take_writer() returns the writer. Does nothing before write_queue_begin().
 */
struct sp_error *write_queue_end(struct write_queue *write_queue) SP_MUST_CHECK;

struct write_queue_counts {
	uint64_t file_bytes; /* writer_size() of the last file, and bytes that are queued for it */
	uint64_t all_bytes;  /* the same for all files so far */
	uint64_t unwritten;  /* unwritten samples, after an error */
	uint64_t dropped;      /* samples that were dropped: the queue was full */
	uint64_t waits;      /* number of times that the round had to wait */
};
struct write_queue_counts write_queue_counts(const struct write_queue *write_queue);

/* Samples of one event that were dropped and not reported yet. */
struct write_queue_dropped {
	uint64_t id, samples;
	uint32_t cpu; /* CPU of the first */
};

/*
 * Gets the next event with dropped samples, and resets its count. Returns false if there are no
 * more. Also returns false while the queue is nearly full, unless `now`: more will be dropped.
 */
bool write_queue_next_dropped(struct write_queue *write_queue, bool now, struct write_queue_dropped *ret);
