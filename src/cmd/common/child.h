/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands that this process runs: finds them, and lets this process end as they have ended, with
 * the exit status or by the signal.
 */
#ifndef CMD_COMMON_CHILD_H
#define CMD_COMMON_CHILD_H

#include <stdbool.h>
#include "options.h"

/*
 * Ends this process as `status` of waitpid(2) describes: returns the exit status, or raises the signal
 * that ended the command.
 */
int child_exit_like(int status);

/* Finds the file that execvp() runs: a path as it is, or an executable file in PATH. */
bool child_find_program(const char *word, char *path, size_t size);

/* Returns whether `word` names a program, as above. */
bool child_is_program(const char *word);

/*
 * Returns false, after printing the error, if `command` begins with a number and is no program: the
 * shell splits the process IDs of -p $(pidof NAME) without quotes. `command` may be NULL.
 */
bool child_check_command(const char *const *command, const struct option_numbers *pids);

#endif
