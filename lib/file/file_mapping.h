/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of a mapped file, for readers of few of its bytes: read(2) would copy all. A window is
 * opened only if a mapping is as safe as reading:
 *
 *	A file that shrinks causes SIGBUS. So the file is mapped under a lease (fcntl(2), F_SETLEASE):
 *	no process has it open for writing, and one that wants to waits until the lease is given
 *	back, which happens as soon as no window is open. (If this process is stopped just then, the
 *	kernel breaks the lease after /proc/sys/fs/lease-break-time, 45 s.) A lease needs a file of
 *	our own or CAP_LEASE, and a local file system.
 *
 *	A failing disk causes SIGBUS, too. So a window is opened only on bytes in the page cache.
 *	(If memory runs out, some may be dropped while the window is open; so may our own code.)
 *
 * A window that cannot be opened is no error: the caller reads instead.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Alignment of windows: at least the page size of every machine. */
#define MAPPING_ALIGN ((uint64_t)1 << 16)

struct file_mapping {
	pthread_mutex_t lock;
	int fd;
	uint8_t *bytes; /* the mapped file; NULL: there is no lease */
	uint64_t size;
	unsigned int windows; /* number of open windows */
	bool ending;          /* no more windows may be opened */
};

void file_mapping_init(struct file_mapping *mapping);
void file_mapping_deinit(struct file_mapping *mapping);

/* The functions below are thread-safe. */

/*
 * Takes a lease and maps the file, if possible; does nothing while a file is mapped. `fd` is
 * borrowed until file_mapping_end() was called and all windows are closed.
 */
void file_mapping_begin(struct file_mapping *mapping, int fd);

/* Stops opening windows. Open windows stay; the last one to close gives the lease back. */
void file_mapping_end(struct file_mapping *mapping);

/*
 * Opens a window: bytes [offset, offset + size) of the file, offset aligned. Returns NULL if the
 * bytes must be read instead. Windows may overlap. The caller must not wait for anything while one
 * is open.
 */
const uint8_t *file_mapping_open(struct file_mapping *mapping, uint64_t offset, uint64_t size);

/* Closes the window that was opened with the same arguments; its pages may be unmapped. */
void file_mapping_close(struct file_mapping *mapping, uint64_t offset, uint64_t size);
