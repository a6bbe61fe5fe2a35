/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What makes a file valid at each moment:
 *
 *	header    104 bytes
 *	ids       u64 of all events
 *	attrs     for each event its perf_event_attr and the section of its ids
 *	payloads  of the features that are known at the start
 *	data      HEADER_FEATURE records first (a file without a table still says
 *	          what it is of), then what the recorder writes
 *	table     for each bit in the header a section; readers look for it behind
 *	          the data. While recording it points at the payloads above; at the
 *	          end there is one with all payloads behind it, as perf writes it.
 *
 * The data grows over the table. What would go over it is held back, so that a
 * round goes: the rest of the data, and a table behind it; bits cleared; what was
 * held back; data.size and bits, in one write within one page, which a SIGKILL
 * does not divide. Killed anywhere, the file has the size of a round and its
 * table; killed in the few microseconds between the last steps, only no table.
 *
 * To outlive a loss of power (`durability`), too, what the header is to tell of is synced before
 * the header is written. Of a table that the data grows over nobody knows then which of the two the
 * disk has: so there is none from the first round to the end.
 *
 * Functions that return an int return 0 or the errno; `end` is always behind a whole record.
 */
#ifndef WRITER_COMMIT_H
#define WRITER_COMMIT_H

#include <sys/uio.h>
#include "writer/durable.h"
#include "writer/features_write.h"
#include "writer/start.h"

/* Zeroed but for `fd`, `durability` and `start`, which are the caller's, nothing is there yet. */
struct commit {
	int fd;
	struct durability *durability; /* NULL: a loss of power may take what was written */
	struct file_start start; /* its bytes only until they are written */
	uint64_t committed;      /* up to where data.size reaches */
	bool bits_set;           /* the header's, of a table at `committed` */
	uint64_t held_size;      /* of the data from there on, which is not in the file */
	uint8_t held[FILE_FEATURE_BITS * sizeof(struct file_section)];
};

/* Waits until what was written is on the disk, where that is wanted. */
int commit_sync(const struct commit *commit);

/* Writes the start, and a table behind it. */
int commit_begin(struct commit *commit);

/* Of `size` bytes to be written at `end`, holds back those that the table is in the way of. */
uint64_t commit_hold(struct commit *commit, uint64_t end, const struct iovec *spans, uint64_t size);

/* What is held back behind `end` will not be. */
void commit_drop(struct commit *commit, uint64_t end);

/* Makes the file valid up to `end`, with the table of what is known. */
int commit_round(struct commit *commit, uint64_t end);

/* The same with a table of all features and their payloads; *file_end_ret is where those end. */
int commit_last(struct commit *commit, uint64_t end, const struct feature_set *features,
		uint64_t *file_end_ret);

/* Where the file ends, but for what was written since it was sealed. */
uint64_t commit_end(const struct commit *commit);

#endif
