/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Output of a recording. A regular file has no name (O_TMPFILE) until it is published at PATH; an
 * older file there becomes PATH.old. A recorder may be killed between any two system calls: the
 * older file is then at PATH or at PATH.old, and PATH never is half a file.
 *
 * On file systems without O_TMPFILE, the file has a temporary name, PATH.sprof-tmpN. The next
 * recorder to PATH removes those that killed recorders left.
 */
#ifndef WRITER_OUTPUT_H
#define WRITER_OUTPUT_H

#include <stdbool.h>
#include <time.h>
#include "base/error.h"

struct output {
	int fd;
	bool stream;     /* cannot be patched: a pipe, a terminal, a device, standard output */
	bool published;  /* the file is at `path` */
	char *path;      /* NULL for a stream */
	char *temporary; /* the file's name until it is published; NULL: it has none */
};

/*
 * Opens PATH ("-": standard output) for writing, with mode 0600. Symbolic links
 * are followed only to what is no regular file, and only if no other user but root can change
 * them: opening a device can act on it. Pipes that another user may have planted in a directory
 * like /tmp are refused. Fails where output_publish() is sure to.
 */
struct sp_error *output_open(const char *path, struct output *ret) SP_MUST_CHECK;

/*
 * Renames an older file at PATH to PATH.old, and links the file to PATH. On failure PATH is unchanged.
 * Does nothing to a stream, or to a published file.
 */
struct sp_error *output_publish(struct output *output) SP_MUST_CHECK;

/*
 * Gives a published file the name PATH.YYYYMMDDhhmmsscc, of local time with hundredths of a
 * second, as perf does; where there is such a file already, that of the next hundredth. *name_ret
 * is to be freed. Fails with SP_ERROR_NOT_FOUND where it is not at PATH any more; then, and where
 * it cannot be named so, it stays what it is.
 */
struct sp_error *output_date(struct output *output, struct timespec when,
			     char **name_ret) SP_MUST_CHECK;

/* Closes; a file that is not published is gone. Returns close(2)'s errno. */
int output_close(struct output *output);

#endif
