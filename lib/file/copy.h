/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording, whatever its container, as a file or stream of the writer's. */
#ifndef FILE_COPY_H
#define FILE_COPY_H

#include <sprof/reader.h>

/*
 * Writes all that the reader can read to PATH ("-": standard output): events, features, and
 * each record byte by byte, with what lies behind it. Inflated, joined and spooled data come out
 * as one flat run, or compressed with `compression_level` (0: not). What says the same another
 * way is not kept: HEADER_ATTR, HEADER_FEATURE and HEADER_TRACING_DATA records become the
 * header, and the features COMPRESSED, DIR_FORMAT and AUXTRACE are those of the new file. What is
 * damaged is left out. The name of EVENT_DESC is what sp_reader_event() says.
 *
 * A recording of the other byte order is copied as it is, container and all; a directory then
 * fails with SP_ERROR_UNSUPPORTED, as does compressing it.
 */
struct sp_error *recording_copy(struct sp_ctx *ctx, struct sp_reader *reader, const char *path,
				int compression_level) SP_MUST_CHECK;

#endif
