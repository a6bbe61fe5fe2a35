/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of an open recording. Functions with a const reader are thread-safe once it is open.
 * Returned objects and bytes are the reader's.
 */
#ifndef FILE_READER_IO_H
#define FILE_READER_IO_H

#include <sprof/reader.h>
#include "base/cursor.h"
#include "file/format.h"
#include "record/decode.h"

/*
 * The flat data: records, uncompressed and without a hole. This is a file's data section, a
 * copied pipe, or the inflated stream of a compressed file.
 */
struct reader_extent reader_extent(const struct sp_reader *reader);

/* Layout for decoder_new(). Complete once the reader is open. */
const struct record_layout *reader_layout(const struct sp_reader *reader);

/*
 * Reads bytes of the flat data, which must lie in the extent. Fails with SP_ERROR_OS, or with
 * SP_ERROR_FORMAT if the file was truncated after opening.
 */
struct sp_error *reader_read(const struct sp_reader *reader, uint64_t offset, void *to,
			     size_t size) SP_MUST_CHECK;

/*
 * Lets walkers map the flat data if that is safe (mapping.h). It pays if few of the bytes are looked at.
 * Until reader_unmap(), processes that want to write to the file may have to wait, so walkers must not
 * pause.
 */
void reader_map(struct sp_reader *reader);
void reader_unmap(struct sp_reader *reader);

/* -- While opening --------------------------------------------------------- */

void reader_set_swap(struct sp_reader *reader, bool swap);

/* Cursor over bytes of the file at `offset`. */
struct cursor reader_cursor(const struct sp_reader *reader, const void *bytes, size_t size,
			    uint64_t offset);

/* Copies to the arena and adds a NUL. NULL when out of memory, which also sets no_memory. */
char *reader_copy_text(struct sp_reader *reader, const void *bytes, size_t size);

/*
 * Reads bytes of the file, which must have them, to the arena. All calls together cannot read
 * more than the file's size: that would be a file made to exhaust memory.
 */
struct sp_error *reader_load(struct sp_reader *reader, uint64_t offset, uint64_t size,
			     const uint8_t **ret) SP_MUST_CHECK;

#endif
