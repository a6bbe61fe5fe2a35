/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Standard output of a command, or a pager in front of it. Closing it reports whether all output
 * arrived.
 */
#ifndef PAGER_H
#define PAGER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct pager {
	FILE *out;
	pid_t pid; /* the pager's; 0: no pager */
	int errnum; /* errno of a failed write, kept because stdio forgets it; 0: none */
};

/*
 * Starts $SPROF_PAGER, $PAGER or less where it is wanted and standard output is
 * a terminal. A variable that is empty or "cat" means none. The words of the
 * variable are the program and its arguments: no shell sees them. A pager that
 * cannot be started is as none.
 */
struct pager pager_open(bool wanted);

/*
 * Ends the output and waits for the pager. Returns 0, or 1 if something could
 * not be written: a full disk is said, a closed pipe is not. A pager that
 * was left early is no failure.
 */
int pager_close(struct pager *pager);

#endif
