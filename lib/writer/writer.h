/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writer of a perf.data file that is valid at any moment (commit.h), or of perf's pipe format to a
 * pipe.
 */
#ifndef WRITER_WRITER_H
#define WRITER_WRITER_H

#include <sprof/ctx.h>
#include <sys/uio.h>
#include <time.h>
#include "base/error.h"
#include "writer/durable.h"
#include "writer/writer_info.h"

struct writer;

/*
 * Opens PATH ("-": standard output). A regular file gets mode 0600 and appears at
 * PATH with writer_publish(). Links that another user could have planted are not followed
 * (output.h). A pipe or device is written in perf's pipe format.
 *
 * Fails with SP_ERROR_UNSUPPORTED if compression is requested and the build has no zstd.
 *
 * All attrs are written with the smallest attr.size that holds the fields in use (112 at least),
 * because older readers refuse larger ones.
 */
struct sp_error *writer_open(const char *path, const struct sp_event *events, size_t event_count,
			     const struct writer_info *info, struct writer **ret) SP_MUST_CHECK;

/*
 * Makes the file appear at PATH. An older file there becomes PATH.old. A file that is neither
 * published nor closed by writer_close() leaves PATH unchanged.
 */
struct sp_error *writer_publish(struct writer *writer) SP_MUST_CHECK;

/*
 * Appends whole records: the spans begin with a record's header and end with a record's end; a
 * record may be split between spans. All sizes should be multiples of 8. Small writes, and data to
 * be compressed, are buffered and reach the file with the next commit at the latest.
 *
 * Fails with SP_ERROR_LIMIT (disk full, file size limit, quota) or SP_ERROR_OS;
 * the file then ends with the last whole record that fitted, further writes fail at
 * once with the same error, and writer_close() still works. Neither SIGPIPE nor
 * SIGXFSZ is raised.
 */
struct sp_error *writer_write(struct writer *writer, const struct iovec *spans,
			      int count) SP_MUST_CHECK;

/*
 * Appends an AUXTRACE record and its trace, which is not part of its size: both or neither. They are
 * never compressed, and feature AUXTRACE lists them.
 */
struct sp_error *writer_write_auxtrace(struct writer *writer, const struct iovec *spans,
				       int count) SP_MUST_CHECK;

/* Makes all written records part of the file (updates data.size). */
struct sp_error *writer_commit(struct writer *writer) SP_MUST_CHECK;

/* Bytes written, header and features included. */
uint64_t writer_size(const struct writer *writer);

/*
 * Reserves the bytes that build-ids will take in the feature table (feature_build_id_bytes()): data
 * leaves that much of the disk, or of the limit on file size, free. If space has run out,
 * writer_close() writes the first build-ids that fit.
 */
void writer_reserve(struct writer *writer, uint64_t build_id_bytes);

/* Bytes that closing adds, except build-ids and entries of feature AUXTRACE. */
uint64_t writer_closing_bytes(const struct writer *writer);

/* Whether the output is a pipe or device: its header cannot be updated, and it has no name. */
bool writer_is_stream(const struct writer *writer);

/* Count of SAMPLE records in the file, including buffered ones unless writing them fails. */
uint64_t writer_samples(const struct writer *writer);

/* Count of SAMPLE records that are not in the file because a write failed. */
uint64_t writer_unwritten_samples(const struct writer *writer);

/*
 * Publishes the file, commits, writes the feature table and closes; frees the writer in any case.
 * Space for the table is reserved, so this works on a full disk too. Fails if a write failed, now
 * or earlier, and with SP_ERROR_NOT_FOUND if the file was removed.
 */
struct sp_error *writer_close(struct writer *writer, const struct writer_end *end) SP_MUST_CHECK;

/*
 * The same, and renames the file to PATH.YYYYMMDDhhmmsscc (output_date()). The caller frees
 * *name_ret; NULL if the file could not be renamed. Not for streams.
 */
struct sp_error *writer_close_dated(struct writer *writer, const struct writer_end *end,
				    struct timespec when, char **name_ret) SP_MUST_CHECK;

/* Closes like SIGKILL: committed data of a published file stays. NULL is allowed. */
void writer_free(struct writer *writer);

#endif
