/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rotation: the files of a recording. Limits are checked before a round is written
 * (file_limits.c). The round's largest size is known then, so that no file exceeds its limit:
 *
 *	--switch-output=SIZE: of each ring a part is taken, as much as fits (of equal sizes, or
 *	with waits up to one time), and the rest goes to the next file, or files. One that has no
 *	room for a record takes the rest of the round.
 *	--max-size: the same, and recording ends.
 *
 * A file begins with what lives (live_state.h), as of the oldest sample that can still come, so
 * that samples need nothing of the file before.
 */
#pragma once

#include <pthread.h>
#include <sprof/capture.h>
#include "base/arena.h"
#include "capture/config/capture_options.h"
#include "capture/metadata/host_features.h"
#include "capture/output/dsos.h"
#include "capture/output/write_queue.h"
#include "capture/tasks/live_state.h"
#include "writer/writer.h"

/*
 * The output files of a recording: usually one; with rotation, one after the other, each complete
 * in itself. The round's thread decides when a file ends (file_limits.c). The writer thread ends it
 * and begins the next.
 */

/* A complete file. */
struct file_done {
	char *path;
	uint64_t bytes, samples;
	int fd; /* for reading; -1: none */
};

/*
 * Data that all files begin with, and the results of ended files. The writer and the round's thread
 * share the members after the lock; the others are constant.
 */
struct file_maker {
	struct sp_ctx *ctx;
	struct arena arena;
	struct host_features features;
	struct writer_info info;
	struct sp_event *events;
	size_t event_count;
	char *path;
	uint32_t keep;          /* number of files to keep; 0: all */
	uint64_t closing_bytes; /* end of all files, except for build-ids */
	struct timespec dated;  /* time in the last name */
	struct durability durability; /* sums of all files; the thread's, except for
				       * durability_read() */

	pthread_mutex_t lock;
	uint64_t samples;                       /* in all files that were closed */
	struct { VEC(struct file_done); } done; /* not reported yet */
	struct { VEC(char *); } kept;           /* names, the oldest first; with `keep` alone */
	char *reported;                         /* the path that was reported last */
	int file; /* descriptor of that file, or of one without a date; -1: none, or taken */
	int current; /* with info.in_memory: the file that is being written; -1: none */
};

/* Data for a file's end. */
struct file_end {
	struct dsos dsos; /* owned */
	uint64_t first_ns, last_ns;
	uint64_t samples; /* taken while the file was written */
	bool dated;       /* the file gets a name with its date */
	struct timespec when;
};

/* Opens a writer for the next file at the path. */
struct sp_error *file_maker_open(struct file_maker *maker, struct writer **ret) SP_MUST_CHECK;

/* Closes a file, and frees the end's `dsos`. `writer` NULL: the file failed, which was reported. */
struct sp_error *file_maker_close(struct file_maker *maker, struct writer *writer,
				  struct file_end *end) SP_MUST_CHECK;

/* Ends a file and begins the next. */
struct sp_error *file_maker_change(struct file_maker *maker, const struct file_end *end,
				   struct write_queue_change **ret) SP_MUST_CHECK;

/*
 * Returns the next complete file that was not reported, with a path valid until the next call;
 * NULL: none.
 */
bool file_maker_next_done(struct file_maker *maker, struct sp_capture_file *ret);

/*
 * Moves the descriptor of that file, or of the closed one without a date, to the caller; -1: none.
 */
int file_maker_take_file(struct file_maker *maker);

/* Returns a new descriptor of the file in memory that is being written; -1: none. */
int file_maker_open_current(struct file_maker *maker);

struct rotation {
	uint64_t max_bytes, switch_bytes, switch_ns; /* 0: none */
	bool dated;       /* all files get names with their dates, the last one, too */
	bool tracks;      /* `live_state` is maintained: another file may follow */
	bool full;        /* the last file has reached max_bytes: no more records are added */
	bool cut;         /* a part of this round was not drained */
	uint64_t cut_ns;  /* if waits are recorded: time of the first record that was not drained */
	bool ends;        /* metadata of this round was left out: its samples must not follow */
	struct live_state live_state;
	struct file_maker *maker;
	uint64_t begin_bytes;     /* size of each file before the live state */
	uint64_t first_bytes;     /* size of this file before its samples */
	uint64_t begun_ns;        /* CLOCK_MONOTONIC */
	uint64_t samples_before;  /* in all files before this one */
};

/*
 * Sets limits and names. Fails if limits and path contradict each other. Call it before events are
 * planned.
 */
struct sp_error *rotation_init(struct rotation *rotation,
			       const struct capture_options *options) SP_MUST_CHECK;
void rotation_deinit(struct rotation *rotation);
