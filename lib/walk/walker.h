/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the reader itself needs of its walkers, beyond file/reader.h. */
#ifndef WALK_WALKER_H
#define WALK_WALKER_H

#include "file/reader.h"
#include "record/length.h"

/*
 * A walker of any file: the records that begin in `extent` and end before
 * `data_end`. `path` is borrowed.
 */
struct sp_error *walker_new_at(int fd, const char *path, bool swap, struct reader_extent extent,
			       uint64_t data_end, struct walker **ret) SP_MUST_CHECK;

/*
 * The sizes of records other than samples are held against what they hold. `lengths` is borrowed;
 * `teller`, which may be NULL, is told of those that are wrong. Walkers of a reader's flat data do so
 * from the beginning.
 */
void walker_hold_sizes(struct walker *walker, const struct lengths *lengths,
		       struct sp_reader *teller);

/* Of samples only the headers are wanted: long ones are given without more, and not read. */
void walker_hop_samples(struct walker *walker);

/* Touches the next record's first `size` bytes, so that they are in the cache when it is given. */
void walker_prefetch(const struct walker *walker, size_t size);

/*
 * Moves on to the first place where records seem to begin, for extents that need not begin at
 * one. From then on nobody is told of wrong sizes.
 */
struct sp_error *walker_seek(struct walker *walker) SP_MUST_CHECK;

/* Offset of the last record if the data ends within it; else 0. */
uint64_t walker_cut_at(const struct walker *walker);

/* Of the next record: behind the one just given, and what belongs to it. */
uint64_t walker_offset(const struct walker *walker);

#endif
