/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole reads and writes: EINTR and short counts are handled here and nowhere else. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "base/error.h"

/* 0, or the errno. *done_ret (may be NULL) is how much was read; less than `size` is the end. */
int io_read(int fd, void *buffer, size_t size, size_t *done_ret);
int io_pread(int fd, void *buffer, size_t size, off_t offset, size_t *done_ret);

/* 0, or the errno; *done_ret (may be NULL) is how much was written before it. */
int io_write(int fd, const void *buffer, size_t size, size_t *done_ret);

/*
 * Counts the file's bytes that are on the disk, without holes: these take no space, but reading them
 * takes as long as reading others. At most status->st_size.
 */
uint64_t io_allocated_bytes(int fd, const struct stat *status);

/*
 * The whole of a small text file (as those of /proc and /sys), with a NUL behind.
 * 0, or the errno. *text_ret is the caller's to free.
 */
int io_read_file(const char *path, char **text_ret, size_t *size_ret);

#endif
