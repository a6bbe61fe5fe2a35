/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Space on the disk for a file that grows, which is ours before it is written (fallocate, the
 * file's size unchanged). The data never grows into the last `reserve` bytes of it: a full disk
 * stops the data, not the closing.
 */
#ifndef WRITER_PREALLOCATE_H
#define WRITER_PREALLOCATE_H

#include <stdbool.h>
#include <stdint.h>

struct preallocation {
	int fd;               /* borrowed; of a file */
	uint64_t allocated;   /* space up to here is ours */
	uint64_t reserve;     /* of that, behind the data */
	bool cannot_allocate; /* the file system has no fallocate */
};

/*
 * How many of `size` bytes of data may be written at `end`; fewer than `size` only together with
 * an errno, which else is 0.
 */
uint64_t preallocate_room(struct preallocation *space, uint64_t end, uint64_t size, int *errnum_ret);

/* Ends the file there and gives back what was allocated ahead; 0 or the errno. */
int preallocate_cut(struct preallocation *space, uint64_t size);

#endif
