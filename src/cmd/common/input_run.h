/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common sequence of commands that read recordings: report and script. */
#ifndef CMD_COMMON_INPUT_RUN_H
#define CMD_COMMON_INPUT_RUN_H

#include "cmd/common/recordings.h"

struct input_run {
	struct selection *selection;
	bool header_only;
	/* Does the command's work and prints the recordings' damage. Returns the exit status. */
	int (*read)(struct sp_ctx *ctx, void *arguments, struct recordings *recordings);
	void *arguments;
};

/*
 * Opens the recordings, then prints their headers or calls `read`. Returns the exit status, after
 * printing errors.
 */
int input_run(const struct input_run *run, struct sp_ctx *ctx);

#endif
