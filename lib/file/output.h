/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a recording is written to. A regular file is made under another name and
 * put in its place when it is valid, so that PATH never is half a file. What was
 * there has that other name then, until it is clear that there will be a recording:
 * if not, all is as before.
 */
#ifndef FILE_OUTPUT_H
#define FILE_OUTPUT_H

#include <stdbool.h>
#include <time.h>
#include "base/error.h"

enum output_place {
	OUTPUT_UNBORN,   /* under another name */
	OUTPUT_ON_TRIAL, /* in its place, until kept or taken back */
	OUTPUT_KEPT,
};

struct output {
	int fd;
	bool stream;  /* cannot be patched: a pipe, a terminal, a device, standard output */
	char *path;   /* of a file */
	char *other;  /* its name while unborn; on trial, that of the old file, or NULL */
	enum output_place place;
};

/*
 * Opens PATH ("-": standard output) for writing, with mode 0600. Symbolic links
 * are followed only to what is no regular file, and neither links nor pipes that
 * another user may have planted in a directory like /tmp are.
 */
struct sp_error *output_open(const char *path, struct output *ret) SP_MUST_CHECK;

/* Puts the file in its place, on trial: PATH. */
struct sp_error *output_publish(struct output *output) SP_MUST_CHECK;

/*
 * The trial is over: what was at PATH becomes PATH.old. Fails where it cannot be
 * called so; then it has another name, which the error says, and the file is kept.
 */
struct sp_error *output_keep(struct output *output) SP_MUST_CHECK;

/*
 * Gives a file that is kept the name PATH.YYYYMMDDhhmmsscc, of local time with hundredths of a
 * second, as perf does; where there is such a file already, that of the next hundredth. *name_ret
 * is to be freed. Fails with SP_ERROR_NOT_FOUND where it is not at PATH any more; then, and where
 * it cannot be named so, it stays what it is.
 */
struct sp_error *output_date(struct output *output, struct timespec when,
			     char **name_ret) SP_MUST_CHECK;

/* Closes; a file that is not kept is removed, and PATH what it was. Returns close(2)'s errno. */
int output_close(struct output *output);

#endif
