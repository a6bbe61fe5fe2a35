/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens files by untrusted paths: they come from a recording, another process's mappings, or a link
 * in an ELF file. Opening a device can act on it (a watchdog resets the machine), and opening a
 * FIFO waits. O_PATH does neither. So the path is first opened by O_PATH, and then for reading only
 * if it is a regular file that is not on a pseudo file system (proc, sysfs, …).
 */
#pragma once

#include <sys/stat.h>
#include "base/error.h"

enum regular_file_flags {
	REGULAR_FILE_NO_LINK = 1, /* refuse a symbolic link as the last component */
	REGULAR_FILE_IN_ROOT = 2, /* the directory is the root of all links and of ".." */
	/*
	 * Accept FIFOs and directories, too: for paths that the user gave. A FIFO's descriptor has
	 * O_NONBLOCK.
	 */
	REGULAR_FILE_OR_PIPE = 4,
};

/*
 * Opens `path` below the directory `folder` (or AT_FDCWD) for reading; the caller closes *fd_ret.
 * `shown` is its name in messages. Fails as open(2); with SP_ERROR_INVALID if it is not a regular file;
 * with SP_ERROR_UNSUPPORTED if /proc is not mounted or openat2(2) is refused, since no other way is
 * safe.
 */
struct sp_error *regular_file_open_at(int folder, const char *path, unsigned int flags,
				      const char *shown, int *fd_ret,
				      struct stat *status_ret) SP_MUST_CHECK;

/* Opens a path, which cannot leave the directory `root` unless that is NULL or "". */
struct sp_error *regular_file_open(const char *root, const char *path, unsigned int flags,
				   int *fd_ret, struct stat *status_ret) SP_MUST_CHECK;

/* Returns the path below `root` for messages: malloc'ed, NULL when out of memory. */
char *regular_file_shown(const char *root, const char *path);
