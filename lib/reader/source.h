/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a path to one flat run of records. */
#ifndef READER_SOURCE_H
#define READER_SOURCE_H

#include "base/vec.h"
#include "file/reader_io.h"

/* A run of records in a file. */
struct flat_source {
	int fd;
	struct reader_extent extent;
	const char *path; /* borrowed */
};

/* data.0, data.1, … of a directory. A zeroed one is empty. */
struct source_parts {
	VEC(struct flat_source);
};

/* Opens info.path, unless fd is open: fills fd, file_size, directory_fd and info.mode. */
struct sp_error *source_open(struct sp_reader *reader) SP_MUST_CHECK;

/* Whether the first bytes are a recording's, and of the other byte order. */
bool source_is_recording(const void *bytes, size_t size, bool *swap_ret);

/* Adds them; the caller deinits them, after an error too. */
struct sp_error *source_list_parts(struct sp_reader *reader, struct source_parts *parts) SP_MUST_CHECK;
void source_parts_deinit(struct source_parts *parts);

#endif
