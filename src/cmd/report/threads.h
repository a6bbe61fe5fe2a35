/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `sprof report --threads`: the states of each thread over time. */
#ifndef CMD_REPORT_THREADS_H
#define CMD_REPORT_THREADS_H

#include "cmd/report/arguments.h"

/* Prints the threads of the recordings, in place of a report. Returns the exit status. */
int report_threads(const struct report_arguments *arguments, struct sp_ctx *ctx,
		   const struct recordings *recordings);

#endif
