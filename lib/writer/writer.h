/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a perf.data file that is valid at each moment (commit.h), or perf's pipe format to a pipe. */
#pragma once

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
 * (written_file.h). A pipe or device is written in perf's pipe format.
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
 * Appends records. The spans begin with a record's header and end with a record's end; a record may be
 * divided between spans. All sizes should be multiples of 8. Small writes, and data to be compressed,
 * are buffered until the next commit at the latest.
 *
 * Fails with SP_ERROR_LIMIT (disk full, file size limit, quota) or SP_ERROR_OS. The file then ends with
 * the last whole record that fitted, further writes fail with the same error, and writer_close() still
 * works. No SIGPIPE or SIGXFSZ is raised.
 */
struct sp_error *writer_write(struct writer *writer, const struct iovec *spans,
			      int count) SP_MUST_CHECK;

/*
 * Appends an AUXTRACE record and its trace, which header.size does not include: both or neither. They
 * are never compressed. Feature AUXTRACE lists them.
 */
struct sp_error *writer_write_auxtrace(struct writer *writer, const struct iovec *spans,
				       int count) SP_MUST_CHECK;

/* Makes all written records part of the file by updating data.size in the header. */
struct sp_error *writer_commit(struct writer *writer) SP_MUST_CHECK;

/* Returns the number of bytes written so far, header and features included. */
uint64_t writer_size(const struct writer *writer);

/*
 * Reserves space for build-ids in the feature table (feature_build_id_bytes()): data leaves that much
 * of the disk, or of the limit on file size, free. If space runs out nevertheless, writer_close()
 * writes the build-ids that fit.
 */
void writer_reserve(struct writer *writer, uint64_t build_id_bytes);

/* Returns the bytes that closing adds, without build-ids and entries of feature AUXTRACE. */
uint64_t writer_closing_bytes(const struct writer *writer);

/*
 * Returns whether the output is a pipe or device: it has no name, and its header cannot be updated.
 */
bool writer_is_stream(const struct writer *writer);

/* Opens the file again, for reading: the caller's descriptor. -1: a stream, or an error. */
int writer_reopen(const struct writer *writer);

/* Returns the number of SAMPLE records in the file. Buffered ones are included. */
uint64_t writer_samples(const struct writer *writer);

/* Returns the number of SAMPLE records that are not in the file because a write failed. */
uint64_t writer_unwritten_samples(const struct writer *writer);

/*
 * Publishes the file, commits, writes the feature table, closes, and always frees the writer. Space for
 * the table is reserved, so this works on a full disk. Fails if any write failed, and with
 * SP_ERROR_NOT_FOUND if the file was removed.
 */
struct sp_error *writer_close(struct writer *writer, const struct writer_end *end) SP_MUST_CHECK;

/*
 * Like writer_close(), and renames the file to PATH.YYYYMMDDhhmmsscc (output_rename_dated()). The
 * caller frees *name_ret, which is NULL if the file could not be renamed. Not for streams.
 */
struct sp_error *writer_close_dated(struct writer *writer, const struct writer_end *end,
				    struct timespec when, char **name_ret) SP_MUST_CHECK;

/*
 * Closes without finishing the file. Committed data of a published file stays, as after SIGKILL. NULL
 * is allowed.
 */
void writer_free(struct writer *writer);
