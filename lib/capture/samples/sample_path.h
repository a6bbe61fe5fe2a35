/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The way of a sample from its ring to the file. Each sample passes the filter. If stack copies
 * are unwound while recording, it then goes to the threads that unwind, and returns with a call
 * chain; else its bytes go to the batch as they are in the ring, but for ids and periods. All
 * functions belong to one thread; without unwinding, those that only concern it do nothing.
 * Samples of waits stay in `waits` until the wait ends.
 *
 * The copies of most bytes: from the kernel's ring to memory (drain threads, and only with stack
 * copies or many CPUs), to the threads that unwind (only then), to the write queue. None of
 * these copies can be omitted: the ring must be emptied at once, its bytes must outlive it until
 * they are unwound, and a slow disk must not stop the round.
 */
#pragma once

#include "capture/ring_bank/ring_bank.h"
#include "capture/samples/ring_filter.h"
#include "capture/samples/live_unwind.h"

/* Zeroed, it may be given to sample_path_deinit(). */
struct sample_path {
	struct filter filter;       /* the session sets what it borrows, and `fields` */
	struct planned_ids planned; /* ids of the events that the file lists */
	struct live_unwind *live_unwind;    /* NULL: samples go to the file as they are */
	struct waits *waits;                /* owned; the session sets it; NULL: none */
	struct live_unwind_counts unwound; /* by sample_path_finish() */
};

/* Adds the planned events: samples may have ids of other events. */
struct sp_error *sample_path_add_events(struct sample_path *path, const struct sp_event *events,
					size_t count) SP_MUST_CHECK;

/* Unwinds stack copies from now on. */
struct sp_error *
sample_path_enable_unwinding(struct sample_path *path,
			     const struct live_unwind_options *options) SP_MUST_CHECK;
void sample_path_deinit(struct sample_path *path);

/*
 * Applies whole metadata records, merged by time, ahead of the samples that need them, and removes
 * ended threads from the filter's `schedstat`.
 */
struct sp_error *sample_path_on_metadata(struct sample_path *path, const uint8_t *bytes,
					 size_t size) SP_MUST_CHECK;

/* Prepares for a new file, which lacks the names and other data that are written once. */
void sample_path_restart(struct sample_path *path);

/*
 * Adds waits to the batch, as waits_write(), but only those that ended before the oldest sample
 * that is still being unwound.
 */
struct sp_error *sample_path_write_waits(struct sample_path *path, uint64_t safe_ns,
					 uint64_t split_ns, struct batch *batch,
					 bool *wrote_ret) SP_MUST_CHECK;

/*
 * Adds the samples of this round to the batch, and those that were unwound meanwhile. *wrote_ret is set
 * if any record was read or written, else left.
 */
struct sp_error *sample_path_write(struct sample_path *path, struct ring_bank *bank, struct batch *batch,
				   bool *wrote_ret) SP_MUST_CHECK;

/*
 * Adds the records of one ring before `end` to the batch, as filter_ring(). First applies `rewrite`, which
 * needs a ring in plain memory.
 */
struct sp_error *sample_path_filter(struct sample_path *path, const struct rewrite *rewrite,
				    struct ring *ring, uint64_t end, struct batch *batch) SP_MUST_CHECK;

/* Waits until all added samples are unwound, and flushes the batch with them. */
struct sp_error *sample_path_flush(struct sample_path *path, struct batch *batch,
				   bool *wrote_ret) SP_MUST_CHECK;

/* Waits until all added samples are unwound, and sums up `unwound`. */
struct sp_error *sample_path_finish(struct sample_path *path) SP_MUST_CHECK;

/* Returns the time of the oldest sample that is still unwound; UINT64_MAX: there is none. */
uint64_t sample_path_oldest_ns(const struct sample_path *path);

/* Returns the same, including waits that are not written yet. */
uint64_t sample_path_unwritten_ns(const struct sample_path *path);

/* Drops state before that time: no older sample will come. */
struct sp_error *sample_path_expire(struct sample_path *path, uint64_t before_ns) SP_MUST_CHECK;
