/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Order of writes that keeps a file valid at each moment. Its layout:
 *
 *	header    104 bytes
 *	ids       u64 of all events
 *	attrs     for each event its perf_event_attr and the section of its ids
 *	payloads  of the features that are known at the start
 *	data      HEADER_FEATURE records (for files without a table), then the
 *	          recorder's records
 *	table     a section for each bit in the header, after the data. While
 *	          recording it points to the payloads above. The last table has all
 *	          payloads after it, as in perf's files.
 *
 * The data grows over the table. Data that would overwrite the table is held back. A round
 * writes the rest of the data and a new table after it, clears the bits, writes the held data, and
 * writes data.size and bits. The last is one write within a page, which SIGKILL does not divide.
 * A file killed anywhere has a round's size and its table; killed in the few microseconds between
 * the last steps, it has no table.
 *
 * With `durability`, data is also synced before the header that counts it is written, against
 * power loss. The disk might then have the table or the data over it, so there is no table from
 * the first round to the end.
 *
 * Functions that return an int return 0 or the errno. `end` is the end of a whole record.
 */
#pragma once

#include <sys/uio.h>
#include "writer/durable.h"
#include "writer/features_write.h"

/* First bytes of a recording: header, events and features. */

/* Bytes at the start of a file; commit.h describes the layout. */
struct file_start {
	struct record_buffer bytes; /* bytes from the header up to the first record of the data */
	uint64_t data_offset;
	struct record_buffer table; /* entries of a feature table for the payloads in `bytes` */
	struct feature_bits bits;   /* feature bits of that table */
};

/* Makes a file's start with the features of feature_set_start(). *start must be zeroed. */
struct sp_error *file_start_make(struct file_start *start, const struct sp_event *events,
				 size_t count, uint32_t attr_size,
				 const struct feature_set *features) SP_MUST_CHECK;
void file_start_deinit(struct file_start *start);

/* Makes the start of a stream in perf's pipe format. */
struct sp_error *stream_start_make(struct record_buffer *bytes, const struct sp_event *events,
				   size_t count, uint32_t attr_size,
				   const struct feature_set *features) SP_MUST_CHECK;

/* State of commits. The caller sets `fd`, `durability` and `start`; all else is zero. */
struct commit {
	int fd;
	struct durability *durability; /* NULL: nothing is synced */
	struct file_start start; /* start of the file; `bytes` may be freed after commit_begin() */
	uint64_t committed;      /* end of the data that the header states */
	bool bits_set;           /* the header states that a feature table is at `committed` */
	uint64_t held_size;      /* bytes of data after `committed` that are not in the file yet */
	uint8_t held[FILE_FEATURE_BITS * sizeof(struct file_section)];
};

/* Syncs the file, if `durability` is set. Returns 0 or the errno. */
int commit_sync(const struct commit *commit);

/* Writes the file's start, and a feature table after it. Returns 0 or the errno. */
int commit_begin(struct commit *commit);

/*
 * Holds back data that would overwrite the feature table: bytes of `size` bytes that belong at `end`.
 * Returns the number of held bytes.
 */
uint64_t commit_hold_back(struct commit *commit, uint64_t end, const struct iovec *spans, uint64_t size);

/* Discards held bytes after offset `end`. */
void commit_drop(struct commit *commit, uint64_t end);

/*
 * Makes the data up to `end` part of the file. Without `durability`, also writes a feature table after
 * it. Returns 0 or the errno.
 */
int commit_data(struct commit *commit, uint64_t end);

/*
 * Like commit_data(), with the complete table of `features` and their payloads, which end at
 * *file_end_ret.
 */
int commit_finish(struct commit *commit, uint64_t end, const struct feature_set *features,
		  uint64_t *file_end_ret);

/* Returns the end of the file after the last commit. */
uint64_t commit_end(const struct commit *commit);
