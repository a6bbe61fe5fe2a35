/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file that a process wrote for its profilers: a perf map, a jitdump. It lies where anybody may
 * put one, so it counts only if it is a regular file, no link, and belongs to the process's user
 * while the process lives, to this user, or to root. It is looked for in the process's own view
 * while it lives (containers), then here; below symfs, where there is one, there alone.
 */
#ifndef SYMBOL_PROCESS_FILE_H
#define SYMBOL_PROCESS_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/diagnosis.h"
#include "binary/identity.h"

struct sp_ctx;

struct process_file {
	struct sp_ctx *ctx;
	const char *symfs;  /* NULL or "": the files of this machine */
	uint32_t pid;       /* 0: of no process that could live */
	const char *within; /* its path in the process's view, from "/" on */
	const char *here;   /* in this one's */
	off_t size_max;     /* a larger one is refused */
	uint64_t ino;       /* recorded inode; 0: not known. Without symfs it must be this */
	enum host host;     /* without inode and symfs, it must not be another */
};

/* The number that a process has in its innermost pid namespace; `pid` where that is not known. */
uint32_t process_file_number(struct sp_ctx *ctx, uint32_t pid);

/*
 * *fd_ret is open for reading, and *path_ret (malloc'ed) its path; -1 and NULL where there is no
 * such file, or none that is believed: *diagnosis then says why not, if there is one. Fails only
 * when out of memory.
 */
struct sp_error *process_file_open(const struct process_file *file, struct diagnosis *diagnosis,
				   int *fd_ret, char **path_ret) SP_MUST_CHECK;

#endif
