/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a perf.data file that is valid at any moment (design: header first;
 * HEADER_FEATURE records at the start of the data; data.size patched after each
 * round and always on a whole record; feature table behind the data at the end,
 * its bits set only then). To a pipe: perf's pipe format.
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
 * PATH with writer_publish(). Nothing is followed that another user
 * could have planted. A pipe or device is written in perf's pipe format.
 *
 * Fails with SP_ERROR_UNSUPPORTED where it is to be compressed, and the build has no zstd.
 *
 * attrs are written with the smallest attr.size that holds what is set in any of
 * them (112 at least), whatever theirs says, since older readers refuse more.
 */
struct sp_error *writer_open(struct sp_ctx *ctx, const char *path, const struct sp_event *events,
			     size_t event_count, const struct writer_info *info,
			     struct writer **ret) SP_MUST_CHECK;

/*
 * The file appears at PATH; one that was there is PATH.old from here on. A file that is neither
 * published nor closed by writer_close() leaves PATH as it was.
 */
struct sp_error *writer_publish(struct writer *writer) SP_MUST_CHECK;

/*
 * Appends whole records: the spans begin with a record's header and end with a
 * record's end; between spans a record may be split. They are not changed, and
 * not needed afterwards. All sizes should be multiples of 8. Small writes, and what is to be
 * compressed, are gathered and reach the file with the next commit at the latest.
 *
 * Fails with SP_ERROR_LIMIT (disk full, file size limit, quota) or SP_ERROR_OS;
 * the file then ends on the last whole record that fitted, further writes fail at
 * once with the same error, and writer_close() still works. Neither SIGPIPE nor
 * SIGXFSZ is raised.
 */
struct sp_error *writer_write(struct writer *writer, const struct iovec *spans,
			      int count) SP_MUST_CHECK;

/*
 * Appends an AUXTRACE record and the trace behind it, which is not part of its size: all of it or
 * nothing. It is never compressed, and feature AUXTRACE will say where it is.
 */
struct sp_error *writer_write_auxtrace(struct writer *writer, const struct iovec *spans,
				       int count) SP_MUST_CHECK;

/* Makes all that was written part of the file (patches data.size). */
struct sp_error *writer_commit(struct writer *writer) SP_MUST_CHECK;

/* Bytes written, header and features included. */
uint64_t writer_size(const struct writer *writer);

/*
 * Reserves the bytes that build-ids will take in the feature table (feature_build_id_bytes()): data
 * leaves that much of the disk, or of the limit on file size, free. If space has run out,
 * writer_close() writes the first build-ids that fit.
 */
void writer_reserve(struct writer *writer, uint64_t build_id_bytes);

/* How much closing adds, beside build-ids and what AUXTRACE records need. */
uint64_t writer_closing_bytes(const struct writer *writer);

/* Whether it is a pipe or the like, which has no end that could be patched, and no name. */
bool writer_is_stream(const struct writer *writer);

/* Count of SAMPLE records in the file, including buffered ones unless writing them fails. */
uint64_t writer_samples(const struct writer *writer);

/* How many SAMPLE records were handed over and are not in the file, as a write failed. */
uint64_t writer_unwritten_samples(const struct writer *writer);

/*
 * Publishes the file, commits, writes the feature table and closes; the writer is freed in any case.
 * Space for the table was kept, so this works on a full disk too. Fails where a
 * write failed, now or earlier, and with SP_ERROR_NOT_FOUND if the file was removed.
 */
struct sp_error *writer_close(struct writer *writer, const struct writer_end *end) SP_MUST_CHECK;

/*
 * The same, and the file is PATH.YYYYMMDDhhmmsscc afterwards (output_date()): *name_ret, to be
 * freed; NULL where it could not be called so. Not of streams.
 */
struct sp_error *writer_close_dated(struct writer *writer, const struct writer_end *end,
				    struct timespec when, char **name_ret) SP_MUST_CHECK;

/* Closes as SIGKILL would: of a published file, what was committed stays. NULL is allowed. */
void writer_free(struct writer *writer);

#endif
