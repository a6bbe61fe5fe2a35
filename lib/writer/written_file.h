/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Output of a recording. A regular file has no name (O_TMPFILE) until it is published at PATH; an
 * older file there becomes PATH.old. A recorder may be killed between any two system calls: the
 * older file is then at PATH or at PATH.old, and PATH never is half a file.
 *
 * On file systems without O_TMPFILE, the file has a temporary name, PATH.sprof-tmpN. The next
 * recorder to PATH removes those that killed recorders left.
 */
#pragma once

#include <stdbool.h>
#include <time.h>
#include "base/error.h"

struct written_file {
	int fd;
	bool in_memory;  /* it has no name, but is complete at once */
	bool stream;     /* written in perf's pipe format, because the header cannot be updated: a pipe,
			  * device or standard output */
	bool published;  /* the file has its name, `path` */
	char *path;      /* NULL for a stream */
	char *temporary; /* name of the file until it is published; NULL: the file has no name */
};

/*
 * Opens PATH for writing ("-": standard output), with mode 0600. Follows symbolic links only to files
 * that are not regular, and only if no user but root can change them: opening a device can act on it.
 * Refuses FIFOs of other users than root. Fails if output_publish() would fail.
 */
struct sp_error *output_open(const char *path, struct written_file *ret) SP_MUST_CHECK;

/*
 * Creates a file in memory, which goes with its last descriptor. `path` is the begin of the names
 * that output_rename_dated() returns.
 */
struct sp_error *output_open_memory(const char *path, struct written_file *ret) SP_MUST_CHECK;

/*
 * Renames an older file at PATH to PATH.old, and gives the new file its name PATH. On failure, PATH is
 * unchanged. Does nothing to a stream, a published file, or one in memory.
 */
struct sp_error *output_publish(struct written_file *output) SP_MUST_CHECK;

/*
 * Renames a published file to PATH.YYYYMMDDhhmmsscc (local time with hundredths of a second), as perf
 * does. If that name exists, the next free hundredth is used. The caller frees *name_ret. Fails with
 * SP_ERROR_NOT_FOUND if the file is no longer at PATH. On failure, the file keeps its name.
 */
struct sp_error *output_rename_dated(struct written_file *output, struct timespec when,
				     char **name_ret) SP_MUST_CHECK;

/* Closes the output. A file that was not published is removed. Returns the errno of close(2). */
int output_close(struct written_file *output);
