/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disk space for a growing file. fallocate(2) allocates it ahead of the data, and does not change the
 * file's size. The last `reserve` bytes are not for data: they are for closing the file on a full disk.
 */
#ifndef WRITER_PREALLOCATE_H
#define WRITER_PREALLOCATE_H

#include <stdbool.h>
#include <stdint.h>

struct preallocation {
	int fd;               /* the file; borrowed */
	uint64_t allocated;   /* offset up to which space is allocated */
	uint64_t reserve;     /* bytes at the end of that space that are kept for closing */
	bool cannot_allocate; /* the file system does not support fallocate(2) */
};

/*
 * Allocates space for `size` bytes of data at offset `end`. Returns how many of them fit; if they are
 * fewer, *errnum_ret has the reason, else 0.
 */
uint64_t preallocate_room(struct preallocation *space, uint64_t end, uint64_t size, int *errnum_ret);

/* Truncates the file to `size`, which frees the space after it. Returns 0 or the errno. */
int preallocate_cut(struct preallocation *space, uint64_t size);

#endif
