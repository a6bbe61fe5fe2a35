/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of a command: a file, or standard output, directly or through a pager. Closing it reports
 * whether all output was written.
 */
#ifndef PAGER_H
#define PAGER_H

#include <sys/types.h>
#include "output_file.h"

struct pager {
	FILE *out;
	pid_t pid; /* pid of the pager; 0: no pager */
	int errnum; /* errno of a failed write, which the stream itself does not save; 0: none */
	struct output_file file; /* zeroed: standard output */
	bool incomplete;         /* the file is removed at the end */
};

/*
 * Opens the file PATH as output_file_open() does; `out` is NULL after printing an error. If PATH is
 * NULL, starts $SPROF_PAGER, $PAGER or less if `wanted` and standard output is a terminal. A
 * variable that is empty or "cat" disables the pager. The variable's words are the program and its
 * arguments, without a shell. If the pager cannot be started, output goes to the terminal.
 */
struct pager pager_open(const char *path, bool wanted);

/*
 * Ends the output and waits for the pager. Returns 1 if a write failed, else 0. Prints write errors
 * such as a full disk, but not a closed pipe. Quitting the pager early is no failure.
 */
int pager_close(struct pager *pager);

#endif
