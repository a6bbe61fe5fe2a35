/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets this process end as the command that it ran has ended: with its exit status, or by its signal.
 */
#ifndef CMD_COMMON_CHILD_H
#define CMD_COMMON_CHILD_H

/*
 * Ends this process as `status` of waitpid(2) describes: returns the exit status, or raises the signal
 * that ended the command.
 */
int child_exit_like(int status);

#endif
