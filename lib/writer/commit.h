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
#ifndef WRITER_COMMIT_H
#define WRITER_COMMIT_H

#include <sys/uio.h>
#include "writer/durable.h"
#include "writer/features_write.h"
#include "writer/start.h"

/* The caller sets `fd`, `durability` and `start`; the rest is zero. */
struct commit {
	int fd;
	struct durability *durability; /* NULL: no syncs */
	struct file_start start; /* `bytes` is not used after commit_begin() */
	uint64_t committed;      /* end of the data by data.size */
	bool bits_set;           /* the header has the bits of a table at `committed` */
	uint64_t held_size;      /* bytes of data after `committed` that are not in the file */
	uint8_t held[FILE_FEATURE_BITS * sizeof(struct file_section)];
};

/* Syncs the file, with `durability`. */
int commit_sync(const struct commit *commit);

/* Writes the start, and a table after it. */
int commit_begin(struct commit *commit);

/* Holds back those of `size` bytes for `end` that would overwrite the table; returns their number. */
uint64_t commit_hold(struct commit *commit, uint64_t end, const struct iovec *spans, uint64_t size);

/* Discards held bytes after `end`. */
void commit_drop(struct commit *commit, uint64_t end);

/* Makes the file valid up to `end`, with a table of the start's features. */
int commit_round(struct commit *commit, uint64_t end);

/* The same with a table of `features` and their payloads, which end at *file_end_ret. */
int commit_last(struct commit *commit, uint64_t end, const struct feature_set *features,
		uint64_t *file_end_ret);

/* End of the file as of the last round. */
uint64_t commit_end(const struct commit *commit);

#endif
