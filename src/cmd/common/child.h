/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that this process runs: finds them, and lets this process end as they have ended, with
 * the exit status or by the signal.
 */
#ifndef CMD_COMMON_CHILD_H
#define CMD_COMMON_CHILD_H

#include <stdbool.h>

/*
 * Ends this process as `status` of waitpid(2) describes: returns the exit status, or raises the signal
 * that ended the command.
 */
int child_exit_like(int status);

/* Returns whether `word` names a program: a path, or an executable file in PATH. */
bool child_is_program(const char *word);

#endif
