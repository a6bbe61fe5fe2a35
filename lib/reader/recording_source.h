/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens a recording by its path: a file, standard input or a directory. */
#pragma once

#include "base/vec.h"
#include "file/reader_io.h"

/* A run of records in a file. */
struct flat_source {
	int fd;
	struct reader_extent extent;
	const char *path; /* borrowed */
};

/* Files data.0, data.1, … of a directory. A zeroed struct is empty. */
struct source_parts {
	VEC(struct flat_source);
};

/* Opens info.path unless fd is already open. Sets fd, file_size, directory_fd and info.mode. */
struct sp_error *source_open(struct sp_reader *reader) SP_MUST_CHECK;

/*
 * Returns whether these are the first bytes of a recording. *swap_ret is whether its byte order is not
 * this machine's.
 */
bool source_is_recording(const void *bytes, size_t size, bool *swap_ret);

/* Adds the files of the directory. The caller deinitializes `parts`, even after an error. */
struct sp_error *source_list_parts(struct sp_reader *reader, struct source_parts *parts) SP_MUST_CHECK;
void source_parts_deinit(struct source_parts *parts);

/*
 * Copies all records of the files to a temporary file, which becomes the reader's data. Compressed
 * records are replaced by their contents. Data that cannot be decompressed is listed as damage.
 * Fails with SP_ERROR_UNSUPPORTED without zstd, and with SP_ERROR_LIMIT if the disk is full.
 */
struct sp_error *reader_flatten(struct sp_reader *reader, const struct flat_source *first,
				const struct source_parts *parts) SP_MUST_CHECK;
