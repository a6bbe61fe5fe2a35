/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens files whose paths come from others: a recording, another process's mappings, a link in
 * an ELF file. Opening a device can act on it (a watchdog resets the machine), and opening a
 * FIFO waits. O_PATH does neither, so the path is opened by it first, and opened for reading
 * only if it is a regular file, and not on a pseudo file system (proc, sysfs, …).
 */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <sys/stat.h>
#include "base/error.h"

enum regular_file_flags {
	REGULAR_FILE_NO_LINK = 1, /* refuse a symbolic link as the last component */
	REGULAR_FILE_IN_ROOT = 2, /* the folder is the root of all links and of ".." */
	REGULAR_FILE_OR_PIPE = 4, /* FIFOs and directories, too: for what the user names */
};

/*
 * Opens `path` below the directory `folder` (or AT_FDCWD) for reading; *fd_ret is the caller's
 * to close. `shown` names it in messages. Fails as open(2), with SP_ERROR_INVALID where it is
 * not a regular file, and with SP_ERROR_UNSUPPORTED where /proc is not mounted or openat2(2)
 * is refused: nothing else is safe.
 */
struct sp_error *regular_file_open_at(int folder, const char *path, unsigned int flags,
				      const char *shown, int *fd_ret,
				      struct stat *status_ret) SP_MUST_CHECK;

/* The same for a path, which does not leave the directory `root` unless that is NULL or "". */
struct sp_error *regular_file_open(const char *root, const char *path, unsigned int flags,
				   int *fd_ret, struct stat *status_ret) SP_MUST_CHECK;

/* The path below `root` as messages show it: malloc'ed, NULL when out of memory. */
char *regular_file_shown(const char *root, const char *path);

#endif
