/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a recording is written to. A regular file is made under another name and
 * put in its place when it is valid, so that PATH never is half a file, and what
 * was there stays until then.
 */
#ifndef FILE_OUTPUT_H
#define FILE_OUTPUT_H

#include <stdbool.h>
#include "base/error.h"

struct output {
	int fd;
	bool stream;  /* cannot be patched: a pipe, a terminal, a device, standard output */
	char *path;   /* of a file */
	char *unborn; /* its name until it is put in its place, or NULL */
};

/*
 * Opens PATH ("-": standard output) for writing, with mode 0600. Symbolic links
 * are followed only to what is no regular file, and neither links nor pipes that
 * another user may have planted in a directory like /tmp are.
 */
struct sp_error *output_open(const char *path, struct output *ret) SP_MUST_CHECK;

/* Puts the file in its place; one already there is renamed to PATH.old. */
struct sp_error *output_publish(struct output *output) SP_MUST_CHECK;

/* Closes; a file not put in its place is removed. Returns close(2)'s errno. */
int output_close(struct output *output);

#endif
