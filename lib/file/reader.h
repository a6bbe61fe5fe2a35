/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Beneath sp_reader_next(): the raw records of any range of the data, so that
 * several threads can each read their own. A walker reads through a buffer of
 * its own (bounded memory, whatever the size of the file).
 */
#ifndef FILE_READER_H
#define FILE_READER_H

#include <sprof/reader.h>
#include "record/decode.h"
#include "record/raw.h"

/*
 * The record data as [begin, end) of an unlinked or opened file, uncompressed and
 * without a hole: a file's data section, a spooled pipe, the inflated stream of a
 * compressed file.
 */
struct reader_extent {
	uint64_t begin, end;
};

struct reader_extent reader_extent(const struct sp_reader *reader);

/* For decoder_new(); complete once the reader is open. Belongs to the reader. */
const struct record_layout *reader_layout(const struct sp_reader *reader);

/*
 * Of a recording by a clock that can be set (-k CLOCK_REALTIME): whether it was set back meanwhile,
 * to before it began. Then layouts say so, and decoders of them move what is of later: to be called
 * before others are made. Goes through all of the data, of such recordings alone. *moved_ret: how
 * many records, *back_ns_ret: by how much at least.
 */
struct sp_error *reader_settle_clock(struct sp_reader *reader, uint64_t *moved_ret,
				     uint64_t *back_ns_ret) SP_MUST_CHECK;

/* Where the payload of a feature that is there begins in the file. */
uint64_t reader_feature_offset(const struct sp_reader *reader, unsigned int bit);

struct walker;

/*
 * The records that begin in `extent`, which must begin at a record. Walkers of
 * one reader may be used by different threads at the same time.
 */
struct sp_error *walker_new(struct sp_reader *reader, struct reader_extent extent,
			    struct walker **ret) SP_MUST_CHECK;
void walker_free(struct walker *walker);

/*
 * The next record; raw->bytes is NULL at the end of the extent. Valid until the
 * next call. Damage: SP_ERROR_FORMAT; the next call resumes behind it.
 */
struct sp_error *walker_next(struct walker *walker, struct raw_record *raw) SP_MUST_CHECK;

/*
 * Bytes of the data, which must lie in the extent, into `to`. Thread-safe. Fails with
 * SP_ERROR_OS, or SP_ERROR_FORMAT where the file has become shorter.
 */
struct sp_error *reader_read(const struct sp_reader *reader, uint64_t offset, void *to,
			     size_t size) SP_MUST_CHECK;

/*
 * Of a sample just given, whose fields leave `excess` bytes of it: its size may be damaged, and
 * swallow records. If records begin behind its fields the next call goes on there, and the reader
 * is exact from then on. Of an excess of 0 nothing is to be said.
 */
void walker_doubt(struct walker *walker, const struct raw_record *raw, size_t excess);

/*
 * Whether a sample was met that swallowed records. Who went over the data before that, by sizes
 * alone, has to do so again, having forgotten what was damaged in it.
 */
bool reader_is_exact(const struct sp_reader *reader);
void reader_forget_damage(struct sp_reader *reader);

/* The one of sp_reader_damage() that says that the recording was not ended; NULL if none does. */
const struct sp_damage *reader_unfinished_damage(const struct sp_reader *reader);

/* Adds to sp_reader_damage() (thread-safe); takes the error. */
void reader_add_damage(struct sp_reader *reader, uint64_t offset, struct sp_error *error);

#endif
