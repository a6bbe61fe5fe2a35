/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access to the bytes of an open recording. After opening, functions with a const reader are thread-
 * safe. The reader owns returned objects and bytes.
 */
#pragma once

#include <sprof/reader.h>
#include "base/cursor.h"
#include "file/file_format.h"
#include "record/decode.h"

/*
 * Returns the place of the flat data: uncompressed records without a gap. It is a file's data section,
 * a copy of a pipe, or the decompressed contents of a compressed file.
 */
struct reader_extent reader_extent(const struct sp_reader *reader);

/* Returns the layout of records for decoder_new(). It is complete when the reader is open. */
const struct record_layout *reader_layout(const struct sp_reader *reader);

/*
 * Reads bytes of the flat data. Fails with SP_ERROR_OS, or with SP_ERROR_FORMAT if the file was
 * truncated after opening.
 */
struct sp_error *reader_read(const struct sp_reader *reader, uint64_t offset, void *to,
			     size_t size) SP_MUST_CHECK;

/*
 * Allows walkers to map the flat data if that is safe (file_mapping.h), which is faster if few of
 * the bytes are read. Until reader_unmap(), other processes that want to write to the file may have
 * to wait, so walkers must not pause.
 */
void reader_map(struct sp_reader *reader);
void reader_unmap(struct sp_reader *reader);

/* -- While opening --------------------------------------------------------- */

void reader_set_swap(struct sp_reader *reader, bool swap);

/* Returns a cursor over bytes that are at `offset` of the file. */
struct cursor reader_cursor(const struct sp_reader *reader, const void *bytes, size_t size,
			    uint64_t offset);

/*
 * Copies bytes to the arena as a string, and adds a NUL. Returns NULL, and sets no_memory, when out of
 * memory.
 */
char *reader_copy_text(struct sp_reader *reader, const void *bytes, size_t size);

/*
 * Reads bytes of the file to the arena. All calls together cannot read more than the file's size,
 * because a file that needs more was made to exhaust memory.
 */
struct sp_error *reader_load(struct sp_reader *reader, uint64_t offset, uint64_t size,
			     const uint8_t **ret) SP_MUST_CHECK;
