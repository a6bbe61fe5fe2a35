/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens files that a process wrote for profilers: perf maps and jitdumps. Any user may put a file at
 * such a path. So the file must be regular, no symbolic link, and owned by root, this user, or the
 * process's user if the process still runs. The search begins in the process's mount namespace if it
 * still runs (containers), then uses this one. With symfs, only files below symfs are used.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/diagnosis.h"
#include "binary/identity.h"

struct process_file {
	struct sp_ctx *ctx;
	const char *symfs;  /* NULL or "": search this machine */
	uint32_t pid;       /* 0: not a process that may still run */
	const char *within; /* absolute path in the process's mount namespace */
	const char *here;   /* path in this mount namespace */
	off_t size_max;     /* larger files are refused */
	uint64_t ino;       /* recorded inode, which the file must have without symfs; 0: unknown */
	enum host host;     /* without inode and symfs, HOST_OTHER is refused */
};

/*
 * Opens the file for reading. *fd_ret is the caller's, *path_ret (malloc'ed) its path. They are -1 and
 * NULL if no file is found or accepted; *diagnosis then has the reason, if any. Fails only when out of
 * memory.
 */
struct sp_error *process_file_open(const struct process_file *file, struct diagnosis *diagnosis,
				   int *fd_ret, char **path_ret) SP_MUST_CHECK;
