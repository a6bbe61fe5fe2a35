/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file's bytes where the kernel has them, for those who look at few of them: reading would
 * copy all. It is done only where nothing can go wrong that reading would have survived:
 *
 *	A file that shrinks is SIGBUS to whoever looks behind its end. So there must be a lease
 *	(fcntl(2), F_SETLEASE): nobody has the file open for writing then, and who wants to
 *	waits until the lease is given back, which happens as soon as no window is open (or
 *	for /proc/sys/fs/lease-break-time, 45 s, should this process be stopped just then).
 *	That takes a file of one's own (or CAP_LEASE), on a file system that no other machine
 *	and no other process can change.
 *
 *	A disk that fails is SIGBUS, too. So windows are of what is in the page cache
 *	already. (Memory may become so scarce that some of it is dropped within the
 *	milliseconds that a window is open; so may be that with our own code.)
 *
 * What is given up is no error: the caller reads instead.
 */
#ifndef FILE_MAPPING_H
#define FILE_MAPPING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Where windows begin: at a page, however large those are. */
#define MAPPING_ALIGN ((uint64_t)1 << 16)

struct mapping {
	pthread_mutex_t lock;
	int fd;
	uint8_t *bytes; /* of the whole file; NULL: there is no lease */
	uint64_t size;
	unsigned int windows; /* that are open */
	bool ending;          /* no more shall be */
};

void mapping_init(struct mapping *mapping);
void mapping_deinit(struct mapping *mapping);

/* Before windows can be opened. `fd` is borrowed until mapping_end(). */
void mapping_begin(struct mapping *mapping, int fd);

/* No windows are opened any more; what is open may stay so. */
void mapping_end(struct mapping *mapping);

/*
 * [offset, offset + size) of the file, offset aligned; NULL where it must be read.
 * Windows may overlap. Not to be kept open while something is waited for. Thread-safe.
 */
const uint8_t *mapping_open(struct mapping *mapping, uint64_t offset, uint64_t size);
void mapping_close(struct mapping *mapping, uint64_t offset, uint64_t size);

#endif
