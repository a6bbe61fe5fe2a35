/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disk space for a growing file, allocated ahead of the data by fallocate(2) without changing the
 * file's size. Data does not use the last `reserve` bytes: they are for closing on a full disk.
 */
#ifndef WRITER_PREALLOCATE_H
#define WRITER_PREALLOCATE_H

#include <stdbool.h>
#include <stdint.h>

struct preallocation {
	int fd;               /* a file; borrowed */
	uint64_t allocated;   /* space up to this offset is allocated */
	uint64_t reserve;     /* bytes of it for closing, after the data */
	bool cannot_allocate; /* the file system has no fallocate */
};

/*
 * Allocates space for `size` bytes of data at `end`, and returns how many of them fit. Fewer fit only
 * with an errno in *errnum_ret, which else is 0.
 */
uint64_t preallocate_room(struct preallocation *space, uint64_t end, uint64_t size, int *errnum_ret);

/* Truncates the file to `size`, which frees the space after it; 0 or the errno. */
int preallocate_cut(struct preallocation *space, uint64_t size);

#endif
