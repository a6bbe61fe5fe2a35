/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Live unwinding: copies samples with stack copies out of the rings at once, unwinds them in worker
 * threads, and writes them with call chains. If the workers are too slow, samples are written
 * without the user's call chain, and counted.
 *
 * Only the round's thread calls these functions, except live_unwind_on_arrival().
 */
#pragma once

#include <sprof/capture.h>
#include "capture/config/call_graph.h"
#include "capture/ring_bank/record_offsets.h"
#include "capture/samples/stack_hold.h"
#include "capture/samples/python_frames.h"
#include "capture/output/batch.h"
#include "capture/samples/stack_size.h"
#include "capture/event_control/stack_need.h"
#include "capture/waits/waits.h"
#include "machine/live.h"
#include "unwind/unwind.h"

struct live_unwind;

struct live_unwind_options {
	struct sp_ctx *ctx;
	const struct perf_event_attr *attr; /* the attr of all samples in the rings; copied */
	uint32_t stack_bytes; /* requested size of stack copies; the attr may have more */
	uint64_t kept_registers; /* user registers for the file */
	uint32_t max_stack;  /* frames; 0: as many as a record holds */
	bool python;         /* Python frames are inserted */
	bool cpu_clock;      /* periods are time of whole CPUs */
	size_t workers;
	size_t memory_bytes; /* limit of samples that wait */
};

struct sp_error *live_unwind_new(const struct live_unwind_options *options,
				 struct live_unwind **ret) SP_MUST_CHECK;
void live_unwind_free(struct live_unwind *live_unwind);

/* Returns the files that were opened to unwind, which `live_unwind` owns. */
struct held_files *live_unwind_held_files(const struct live_unwind *live_unwind);

/* Applies whole metadata records, merged by time, ahead of the samples. */
struct sp_error *live_unwind_on_metadata(struct live_unwind *live_unwind, const uint8_t *bytes,
					 size_t size) SP_MUST_CHECK;

/* After a loss of side-band records: ends all processes except these. */
struct sp_error *live_unwind_retain(struct live_unwind *live_unwind, const uint32_t *pids, size_t count,
				    uint64_t time_ns) SP_MUST_CHECK;

/*
 * Copies a SAMPLE, so that the ring may release it. It is written with `id`. With `id` 0 it only
 * helps to complete other stacks, and is not written. SP_ERROR_FORMAT: it does not match the attr,
 * and is lost.
 */
struct sp_error *live_unwind_add(struct live_unwind *live_unwind, const struct ring *ring,
				 const struct record_values *record, uint64_t id) SP_MUST_CHECK;

/*
 * Examines samples in [ring->tail, end) that have just arrived, before live_unwind_add(): reads
 * data that only the process's memory has. Any thread may call it, with a worker of its own
 * (live_unwind_arrival_new(), NULL when out of memory, or if there is nothing to read;
 * python_worker_free()).
 */
struct python_worker *live_unwind_arrival_new(struct live_unwind *live_unwind);
void live_unwind_on_arrival(struct live_unwind *live_unwind, struct python_worker *worker,
			    const struct ring *ring, uint64_t end);

/* Returns sums of stacks by need. Lost samples are unknown here: 0. */
struct alternate_seen live_unwind_demand(const struct live_unwind *live_unwind);

/*
 * The descriptor is readable when a stack needed more than the requested size: once after each
 * live_unwind_alarm() with `on`.
 */
int live_unwind_alarm_fd(const struct live_unwind *live_unwind);
void live_unwind_alarm(struct live_unwind *live_unwind, bool on);

/*
 * Submits the added samples to the workers, and writes the unwound ones to `batch`, or to `waits`
 * (NULL: none) if they belong to a wait. Sets *wrote_ret if any was written.
 */
struct sp_error *live_unwind_write(struct live_unwind *live_unwind, struct waits *waits,
				   struct batch *batch, bool *wrote_ret) SP_MUST_CHECK;

/* Counts the ends of stacks of written samples of waits; live_unwind_write() counts others. */
void live_unwind_count(struct live_unwind *live_unwind, const uint8_t *records, size_t size);

/* Waits until all added samples are unwound; live_unwind_write() then writes them. */
struct sp_error *live_unwind_wait(struct live_unwind *live_unwind) SP_MUST_CHECK;

/* Returns the time of the oldest unwritten sample; UINT64_MAX: there is none. */
uint64_t live_unwind_oldest_ns(const struct live_unwind *live_unwind);

/* Drops state before that time: no older sample will be added. */
struct sp_error *live_unwind_expire(struct live_unwind *live_unwind, uint64_t before_ns) SP_MUST_CHECK;

/* Begins a new file: names that samples need are written to it again. */
void live_unwind_restart(struct live_unwind *live_unwind);

/* Sums over all threads; final after live_unwind_wait(). */
struct live_unwind_counts {
	struct sp_capture_stacks stacks; /* counts of written samples */
	/* The rest includes stacks of waits that get no sample. */
	struct stack_sizes sizes;
	uint64_t cuts[STACK_CUTS]; /* stacks that stay truncated, by cause */
	uint64_t alone;              /* number of these that share no frame with a whole stack */
	uint64_t refused; /* stacks with missing pages that could not be read */
	uint32_t refused_pid;
	struct python_counts python;
	uint64_t maps_dropped;     /* number of views that lost their mappings */
	uint64_t files_forgotten;  /* closed files of modules, read again if they are needed */
};
void live_unwind_counts(const struct live_unwind *live_unwind, struct live_unwind_counts *ret);
