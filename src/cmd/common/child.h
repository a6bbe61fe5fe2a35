/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a command's end becomes that of this process. */
#ifndef CMD_COMMON_CHILD_H
#define CMD_COMMON_CHILD_H

/* Ends as `status` of waitpid(2) says: returns the exit status, or is ended by the same signal. */
int child_pass_on(int status);

#endif
