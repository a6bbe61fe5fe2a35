/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that a command writes. It appears at its path only when it is complete: readers never see a
 * part, and an older file stays if writing fails.
 */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct output_file {
	FILE *out;
	char *path;
	char *temporary; /* name until the file is complete; NULL: written in place */
};

/*
 * Opens PATH for writing. As root, only root may read the file. Devices and pipes are written in
 * place, except disks, and pipes of other users (not root). A symbolic link is not followed,
 * because another user may have made it; /dev/stdout and the like are. SIGINT, SIGTERM and SIGHUP
 * remove the unfinished file, unless they have handlers. Returns false after printing an error.
 */
bool output_file_open(struct output_file *file, const char *path);

/*
 * Opens PATH for writing in place, or for appending: readers see the text while it is written.
 * Links are as above, and another user's file is refused. Returns false after printing an error.
 */
bool output_file_open_in_place(struct output_file *file, const char *path, bool append);

/* Flushes a stream. Returns the errno; EIO if an earlier write failed; 0: all was written. */
int stream_finish(FILE *out);

/*
 * Closes the file and gives it its path, if `complete`; else removes it. Returns the exit status: 1
 * after printing an error.
 */
int output_file_close(struct output_file *file, bool complete);

#endif
