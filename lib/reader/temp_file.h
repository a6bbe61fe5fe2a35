/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An unlinked temporary file, in $TMPDIR or /tmp, for data that can be read only once at its
 * source. No other process can open it, and closing its last fd frees it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct temp_file {
	int fd;        /* file descriptor; -1: not open */
	uint64_t size; /* number of bytes appended */
	uint8_t *buffer;
	size_t used;   /* number of bytes in `buffer`, which are not written yet */
	const char *directory;
};

/* Value of a struct temp_file that is not open. */
#define TEMP_FILE_NONE {.fd = -1}

struct sp_error *temp_file_init(struct temp_file *temp) SP_MUST_CHECK;

/* Appends bytes. Fails with SP_ERROR_LIMIT, and names the directory, if the disk is full. */
struct sp_error *temp_file_append(struct temp_file *temp, const void *bytes, size_t size) SP_MUST_CHECK;

/* Writes the buffered bytes. The caller owns *fd_ret. */
struct sp_error *temp_file_finish(struct temp_file *temp, int *fd_ret) SP_MUST_CHECK;

void temp_file_deinit(struct temp_file *temp);
