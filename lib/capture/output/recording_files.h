/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files that are recorded to. Records are added in the order in which readers need them; a thread
 * writes them (write_queue.h). Notes, losses and marks are added at the end of each round. The
 * order of calls:
 *
 *	recording_init()	the thread starts; nothing is written yet
 *	recording_open()	the first file begins (open_file.c)
 *	recording_add(), batch_*(), recording_end_round()	again and again
 *	recording_change()	one file ends, the next begins
 *	recording_close()	the last file ends
 *
 * All functions belong to one thread. Times are those of the recording's clock, in ns.
 */
#pragma once

#include "capture/notes/notes.h"
#include "capture/output/aux_areas.h"
#include "capture/output/dsos.h"
#include "capture/output/batch.h"
#include "capture/output/rotation.h"
#include "capture/output/write_queue.h"
#include "event/open.h"
#include "record/encode.h"

/*
 * Memory for samples that wait to be written: 1.5 s of copies of 8 KB at 5,000 Hz, or minutes of
 * call chains. Records that are no samples get twice that.
 */
#define RECORDING_QUEUE_BYTES (64u << 20)

/* Zeroed, it may be given to recording_deinit(). */
struct recording {
	struct rotation rotation;
	struct write_queue *write_queue;        /* the queue of the thread that writes */
	struct sink sink;               /* passes records to `write_queue` */
	struct batch batch;             /* records on their way to `sink` */
	struct dsos dsos;
	struct aux_areas aux_areas;
	struct record_buffer synthesised; /* records of tasks that ran already, not yet added */
	struct record_buffer extra;     /* records of the recorder, not yet added */
	struct notes notes;
	bool holds_metadata;            /* metadata is only remembered, until a file is requested */
	bool closed;                    /* the last file has ended */
	bool dirty;                     /* records were written since the last commit */
	uint64_t marked_ns;             /* latest time of all records before the last mark */
	uint64_t commit_ns;             /* CLOCK_MONOTONIC of the last commit; 0: none */
};

/*
 * Starts the queue. `sample_id_at`, `sample_cpu_at`: offsets of the event's id and of the CPU in a
 * SAMPLE.
 */
struct sp_error *recording_init(struct recording *recording, uint32_t sample_id_at,
				uint32_t sample_cpu_at) SP_MUST_CHECK;
void recording_deinit(struct recording *recording);

/* Content of the files; borrowed during recording_open() only. */
struct recording_options {
	struct sp_ctx *ctx;
	const struct capture_options *options;
	const struct event_plan *plan;  /* its groups are in the header */
	const struct sp_event *events;  /* events as in the header */
	size_t event_count;
	clockid_t clock;                /* clock of the records */
	bool copies_records;            /* records are copied before they are written */
};

/* Begins the first file. SP_ERROR_INVALID: the limits leave no room for a sample. */
struct sp_error *recording_open(struct recording *recording,
				const struct recording_options *options) SP_MUST_CHECK;

/*
 * Adds whole metadata records: to what later files begin with, to the table of build-ids, and, unless
 * `holds_metadata`, to the file. The bytes must stay valid until batch_flush().
 */
struct sp_error *recording_add(struct recording *recording, const uint8_t *bytes,
			       size_t size) SP_MUST_CHECK;

/* Adds `synthesised`, and empties it. */
struct sp_error *recording_add_synthesised(struct recording *recording) SP_MUST_CHECK;

/* Progress of the recording. */
struct recording_progress {
	uint64_t now_ns;       /* time for records that are made now */
	uint64_t seen_ns;      /* latest time of all records that were read */
	uint64_t unwritten_ns; /* time of the oldest sample that is not written yet: it is still
			        * unwound, or its wait is not over; UINT64_MAX: none */
	const struct perf_event_attr *attr; /* event of the losses */
};

/*
 * Ends a round: adds notes and losses. Commits if the last commit was 0.2 s ago, or if it is the
 * `last` round.
 */
struct sp_error *recording_end_round(struct recording *recording,
				     const struct recording_progress *progress,
				     bool last) SP_MUST_CHECK;

/*
 * Marks that all earlier records have been written (FINISHED_ROUND), and commits them to the file.
 */
struct sp_error *recording_commit(struct recording *recording,
				  const struct recording_progress *progress) SP_MUST_CHECK;

/* Content of a file. */
struct recording_end {
	uint64_t first_ns, last_ns; /* times of its samples; 0: it has none */
	uint64_t samples;           /* samples in this file and all before it */
};

/* Ends the file and begins the next, without metadata. Call recording_write_live() next. */
struct sp_error *recording_change(struct recording *recording,
				  const struct recording_end *end) SP_MUST_CHECK;

/* Writes the live tasks and mappings, as of the oldest sample that may still come. */
struct sp_error *recording_write_live(struct recording *recording) SP_MUST_CHECK;

/* Ends the begin of a new file: its samples follow. */
void recording_begin_samples(struct recording *recording);

/* Ends the last file. */
struct sp_error *recording_close(struct recording *recording,
				 const struct recording_end *end) SP_MUST_CHECK;

/* Abandons the file: an older file of that name stays. */
void recording_abandon(struct recording *recording);

/* Returns the limit of the bytes that closing adds to the file. */
uint64_t recording_closing_bytes(const struct recording *recording);

/* Returns the largest size that the file can have after `more` bytes, once it is closed. */
uint64_t recording_bytes_after(const struct recording *recording, uint64_t more);

/* Returns the size limit of this file; 0: none. *ends_ret: the recording ends there. */
uint64_t recording_limit(const struct recording *recording, bool *ends_ret);
