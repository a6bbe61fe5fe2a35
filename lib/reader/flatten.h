/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies a recording's records to one flat run, for recordings that are compressed or in several files.
 */
#ifndef READER_FLATTEN_H
#define READER_FLATTEN_H

#include "reader/source.h"

/*
 * Copies all records of the files to a temporary file, which becomes the reader's data. Compressed
 * records are replaced by their contents. Data that cannot be decompressed is listed as damage. Fails
 * with SP_ERROR_UNSUPPORTED without zstd, and with SP_ERROR_LIMIT if the disk is full.
 */
struct sp_error *reader_flatten(struct sp_reader *reader, const struct flat_source *first,
				const struct source_parts *parts) SP_MUST_CHECK;

#endif
