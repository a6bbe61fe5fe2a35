/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An unlinked temporary file, in $TMPDIR or /tmp, for what cannot be read twice
 * where it comes from. Nobody else can open it, and it is gone with its last fd.
 */
#ifndef READER_TEMP_FILE_H
#define READER_TEMP_FILE_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct temp_file {
	int fd;        /* -1: none */
	uint64_t size; /* of all that was appended */
	uint8_t *buffer;
	size_t used;   /* of the buffer, not yet written */
	const char *directory;
};

/* An empty one, for temp_file_deinit(). */
#define TEMP_FILE_NONE {.fd = -1}

struct sp_error *temp_file_init(struct temp_file *temp) SP_MUST_CHECK;

/* Fails with SP_ERROR_LIMIT, saying where there is no room. */
struct sp_error *temp_file_append(struct temp_file *temp, const void *bytes, size_t size) SP_MUST_CHECK;

/* Writes what is buffered and gives the fd to the caller. */
struct sp_error *temp_file_finish(struct temp_file *temp, int *fd_ret) SP_MUST_CHECK;

void temp_file_deinit(struct temp_file *temp);

#endif
