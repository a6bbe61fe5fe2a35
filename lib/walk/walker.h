/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Iterators over the raw records in a range of a file. Each walker has its own buffer of at most 512
 * KiB, so threads may use their own walkers of one reader.
 */
#pragma once

#include <sprof/reader.h>
#include "base/cleanup.h"
#include "file/reader_io.h"
#include "record/record_length.h"
#include "record/raw.h"

struct walker;

/*
 * Iterates over records of the reader's flat data that begin in `extent`. The extent must begin at a
 * record, unless walker_seek() follows. The reader must outlive the walker.
 */
struct sp_error *walker_new(struct sp_reader *reader, struct reader_extent extent,
			    struct walker **ret) SP_MUST_CHECK;

/* A file that has records. */
struct walker_file {
	int fd;
	const char *path; /* its path, for messages; both are borrowed */
	bool swap;
	uint64_t data_end; /* offset where the records end */
};

/* Iterates over records of any file. Sizes are not checked until walker_check_sizes() is called. */
struct sp_error *walker_new_at(const struct walker_file *file, struct reader_extent extent,
			       struct walker **ret) SP_MUST_CHECK;
void walker_free(struct walker *walker);
DEFINE_CLEANUP(struct walker *, walker_free)

/*
 * Returns the next record; raw->bytes is NULL at the end of the extent. The record is valid until the
 * next call. Fails with SP_ERROR_FORMAT at damage; the next call continues after it.
 */
struct sp_error *walker_next(struct walker *walker, struct raw_record *raw) SP_MUST_CHECK;

/* Returns the offset after the last record and its payload, where the next record begins. */
uint64_t walker_offset(const struct walker *walker);

/* Returns the offset of the last record, if the data ends within it; else 0. */
uint64_t walker_truncated_at(const struct walker *walker);

/*
 * From now on, compares the sizes of records other than samples with their contents. `lengths` is
 * borrowed. Wrong sizes are added to the damage of `reader`, unless it is NULL. Walkers of a reader's
 * flat data always do this.
 */
void walker_check_sizes(struct walker *walker, const struct lengths *lengths,
			struct sp_reader *reader);

/* Number of bytes that walker_skip_samples() leaves of a long sample. */
#define WALKER_SAMPLE_MIN 64

/* From now on, returns the first WALKER_SAMPLE_MIN bytes of long samples only. The others are not read. */
void walker_skip_samples(struct walker *walker);

/* Prefetches up to `size` bytes of the next record into the CPU's cache. */
void walker_prefetch(const struct walker *walker, size_t size);

/*
 * Moves to the first place where records seem to begin. From then on, wrong sizes are not added to the
 * damage.
 */
struct sp_error *walker_seek(struct walker *walker) SP_MUST_CHECK;

/*
 * States that the last record is a sample with fields that end `excess` bytes before its size. If
 * records begin there, the next call of walker_next() continues with them, and the reader becomes
 * exact (reader_is_exact()).
 */
void walker_set_excess(struct walker *walker, const struct raw_record *raw, size_t excess);
