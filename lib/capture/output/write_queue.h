/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file is written by a thread of its own, so that a disk, or the reader of a pipe, that
 * takes its time is not what the drain waits for. What is to be written is copied, and stands
 * in a queue of bounded size. When that is full, SAMPLE records are left out, the newest
 * first, and counted by their events; records of mappings, tasks, losses and marks are kept,
 * since samples that are written already need them. Only where these alone have filled as
 * much again does the drain wait after all, and the kernel counts what is lost.
 *
 * All functions are the drain's.
 */
#ifndef CAPTURE_OUTPUT_WRITE_QUEUE_H
#define CAPTURE_OUTPUT_WRITE_QUEUE_H

#include "base/error.h"
#include "writer/writer.h"

struct write_queue;

struct write_queue_options {
	size_t memory_bytes;   /* limit of queued samples; twice that for other records */
	uint32_t sample_id_at, sample_cpu_at; /* offsets of event id and CPU in a SAMPLE */
};

/* The thread is made here, as this one is scheduled now. It takes no signals. */
struct sp_error *write_queue_new(const struct write_queue_options *options,
				 struct write_queue **ret) SP_MUST_CHECK;

/* Discards unwritten records, and waits for a write that has begun. NULL is allowed. */
void write_queue_free(struct write_queue *write_queue);

/* From here on the writer is the thread's. To be called once. */
void write_queue_begin(struct write_queue *write_queue, struct writer *writer);

/*
 * Has the thread call writer_publish(), since removing an old file of a gigabyte takes long. A later
 * call returns its error.
 */
void write_queue_publish(struct write_queue *write_queue);

/*
 * Takes whole records, as writer_write() does; they are copied. What fails in the thread is an
 * error of a later call, but all is taken in any case. After a failure each call may fail so.
 */
struct sp_error *write_queue_write(struct write_queue *write_queue, const struct iovec *spans,
				   int count) SP_MUST_CHECK;

/*
 * An AUXTRACE record with its trace behind it, which is copied; it is never compressed. Where as
 * much is queued already as samples may take, nothing happens, and *taken_ret is false. As above.
 */
struct sp_error *write_queue_trace(struct write_queue *write_queue, const struct iovec *spans, int count,
				   bool *taken_ret) SP_MUST_CHECK;

/* Makes the thread commit all earlier records once they are written. */
struct sp_error *write_queue_commit(struct write_queue *write_queue) SP_MUST_CHECK;

/* Has writer_reserve() called for the file of all later writes. */
void write_queue_reserve(struct write_queue *write_queue, uint64_t build_id_bytes);

/* To be called now and then: what waits for the thread's next turn may get it. */
void write_queue_poke(struct write_queue *write_queue);

/*
 * One file ends and another begins. Both are done by the thread, once all that was taken before
 * is written: closing waits for the disk, and so does opening.
 */
struct write_queue_change {
	/*
	 * Takes `old` over (NULL where the last change has failed), and gives the writer of what
	 * follows. Without one (NULL) what follows is counted as unwritten.
	 */
	struct sp_error *(*make)(struct write_queue_change *change, struct writer *old,
				 struct writer **next_ret);
	void (*free)(struct write_queue_change *change); /* whether or not it was made */
};

/* Takes the change over. `begin_bytes`: how large the next file is from the first. */
struct sp_error *write_queue_change(struct write_queue *write_queue, struct write_queue_change *change,
				    uint64_t begin_bytes) SP_MUST_CHECK;

/* Waits until all that was taken is written and committed. */
struct sp_error *write_queue_flush(struct write_queue *write_queue) SP_MUST_CHECK;

/*
 * Ends the thread, at once where write_queue_end() was not called before. The writer is the caller's
 * from here on; NULL where there is none.
 */
struct writer *write_queue_take_writer(struct write_queue *write_queue);

/*
 * Waits until all is written and committed, and ends the thread: the writer is the caller's
 * again (write_queue_take_writer() says which, after changes), also when this fails. Without a
 * write_queue_begin() it does nothing.
 */
struct sp_error *write_queue_end(struct write_queue *write_queue) SP_MUST_CHECK;

struct write_queue_counts {
	uint64_t file_bytes; /* writer_size() of the last file, and what waits to be written to it */
	uint64_t all_bytes;  /* the same of all files so far */
	uint64_t unwritten;  /* samples, after a failure */
	uint64_t dropped;      /* samples that were dropped: the queue was full */
	uint64_t waits;      /* times that the drain had to wait */
};
struct write_queue_counts write_queue_counts(const struct write_queue *write_queue);

/* Samples of one event that were dropped and not reported yet. */
struct write_queue_dropped {
	uint64_t id, samples;
	uint32_t cpu; /* CPU of the first */
};

/*
 * The next event with any, which then has none; false when there are no more, or when it is
 * too early to tell, as the queue is as good as full (unless `now`).
 */
bool write_queue_next_dropped(struct write_queue *write_queue, bool now, struct write_queue_dropped *ret);

#endif
