/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copy of the records to one flat run. */
#ifndef READER_FLATTEN_H
#define READER_FLATTEN_H

#include "reader/source.h"

/*
 * Copies all records of the sources to a temporary file, with the contents of compressed records in
 * their place; it becomes the reader's data. Data that cannot be inflated is added as damage.
 * Fails with SP_ERROR_UNSUPPORTED without zstd, and SP_ERROR_LIMIT without disk space.
 */
struct sp_error *reader_flatten(struct sp_reader *reader, const struct flat_source *first,
				const struct source_parts *parts) SP_MUST_CHECK;

#endif
