/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CMD_RECORD_PROGRAM_H
#define CMD_RECORD_PROGRAM_H

/*
 * Runs `sprof record ./prog ARG...`, then `sprof report` if sprof.data was written. Ends like the
 * program: returns its exit status, or ends this process by its signal.
 */
int program_run(char **words);

#endif
