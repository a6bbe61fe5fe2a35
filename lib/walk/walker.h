/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Iterators over the raw records of a range of a file. Each reads through its own buffer, of
 * 512 KiB at most. Several threads can each use their own walkers of one reader.
 */
#ifndef WALK_WALKER_H
#define WALK_WALKER_H

#include <sprof/reader.h>
#include "file/reader_io.h"
#include "record/length.h"
#include "record/raw.h"

struct walker;

/*
 * Iterates over records of the reader's flat data that begin in `extent`. It must begin at a record,
 * except for walker_seek(). The reader must outlive the walker.
 */
struct sp_error *walker_new(struct sp_reader *reader, struct reader_extent extent,
			    struct walker **ret) SP_MUST_CHECK;

/* A file with records. */
struct walker_file {
	int fd;
	const char *path; /* for messages; both are borrowed */
	bool swap;
	uint64_t data_end; /* records end before this offset */
};

/* Iterates over records of any file; see walker_check_sizes(). */
struct sp_error *walker_new_at(const struct walker_file *file, struct reader_extent extent,
			       struct walker **ret) SP_MUST_CHECK;
void walker_free(struct walker *walker);

/*
 * Returns the next record; raw->bytes is NULL at the end of the extent. Valid until the next
 * call. Damage: SP_ERROR_FORMAT; the next call continues after it.
 */
struct sp_error *walker_next(struct walker *walker, struct raw_record *raw) SP_MUST_CHECK;

/* Offset of the next record: after the last one and its payload. */
uint64_t walker_offset(const struct walker *walker);

/* Offset of the last record if the data ends within it; else 0. */
uint64_t walker_cut_at(const struct walker *walker);

/*
 * Compares sizes of records other than samples with their contents from now on. `lengths` is
 * borrowed; wrong sizes are added to the damage of `reader`, unless NULL. Walkers of a reader's
 * flat data always do this.
 */
void walker_check_sizes(struct walker *walker, const struct lengths *lengths,
			struct sp_reader *reader);

/* Returns long samples without their contents from now on, which are not read. */
void walker_hop_samples(struct walker *walker);

/* Prefetches up to `size` bytes of the next record into the CPU's cache. */
void walker_prefetch(const struct walker *walker, size_t size);

/*
 * Moves to the first place where records seem to begin. Wrong sizes are no longer added to the
 * damage.
 */
struct sp_error *walker_seek(struct walker *walker) SP_MUST_CHECK;

/*
 * Notes that the fields of the last record, a sample, end `excess` bytes before its size. If
 * records begin there, the next call continues with them, and the reader becomes exact
 * (reader_is_exact()).
 */
void walker_doubt(struct walker *walker, const struct raw_record *raw, size_t excess);

#endif
