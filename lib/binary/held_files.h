/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that a recorder opened to unwind stacks, held so that they have names when the recording ends, even
 * if they were deleted, or their container is gone. An open file would keep a container's file system
 * busy, so those of other roots are copied to memory.
 */
#ifndef BINARY_HELD_FILES_H
#define BINARY_HELD_FILES_H

#include "elf/image.h"
#include "machine/module.h"

struct held_files;

struct sp_error *held_files_new(struct held_files **ret) SP_MUST_CHECK;

/* NULL is allowed. */
void held_files_free(struct held_files *held);

/*
 * Holds the file of a module, unless a limit is reached: an eighth of the files that the process may
 * open, and 256 MB of copies. Thread-safe.
 */
void held_files_add(struct held_files *held, const struct module *module,
		    const struct image *image);

/*
 * Prepares a forked process; its only thread calls it. Closes all other descriptors above standard
 * error but the `count` of `fds`, and frees the lock, which another thread may have had. `held`
 * may be NULL.
 */
void held_files_after_fork(struct held_files *held, const int *fds, size_t count);

/* Opens the held file of a module; *ret stays NULL if there is none. */
struct sp_error *held_files_open(struct held_files *held, const struct module *module,
				 struct image **ret) SP_MUST_CHECK;

#endif
