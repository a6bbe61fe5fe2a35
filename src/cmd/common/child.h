/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends this process the way its command ended. */
#ifndef CMD_COMMON_CHILD_H
#define CMD_COMMON_CHILD_H

/*
 * Ends this process as `status` of waitpid(2) describes: returns the exit status, or raises the signal
 * that ended the command.
 */
int child_pass_on(int status);

#endif
