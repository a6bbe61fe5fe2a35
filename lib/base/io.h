/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Complete reads and writes: only these functions handle EINTR and short counts. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "base/error.h"

/*
 * Returns 0, or the errno. *done_ret (may be NULL) is the number of bytes read; fewer than `size`: end
 * of file.
 */
int io_read(int fd, void *buffer, size_t size, size_t *done_ret);
int io_pread(int fd, void *buffer, size_t size, off_t offset, size_t *done_ret);

/* Return 0, or the errno. */
int io_write(int fd, const void *buffer, size_t size);
int io_pwrite(int fd, const void *buffer, size_t size, off_t offset);

/*
 * Counts the file's bytes on disk, without holes: holes take no space, but reading them takes as long
 * as reading data. At most status->st_size.
 */
uint64_t io_allocated_bytes(int fd, const struct stat *status);

/*
 * Reads a small text file (as in /proc and /sys) and adds a NUL. Returns 0, or the errno. The caller
 * frees *text_ret.
 */
int io_read_file(const char *path, char **text_ret, size_t *size_ret);

/* Closes the descriptors from `first` to `last`. */
void io_close_range(int first, int last);
