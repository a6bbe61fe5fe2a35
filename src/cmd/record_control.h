/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands to a recorder that runs, over a file or fifo: perf record's --control. */
#ifndef CMD_RECORD_CONTROL_H
#define CMD_RECORD_CONTROL_H

#include <sprof/capture.h>

/* Longer than any line that makes sense. */
#define RECORD_CONTROL_LINE 512

struct record_control {
	int fd, ack_fd;            /* -1: none */
	bool own;                  /* opened here, not handed down by the caller */
	char line[RECORD_CONTROL_LINE];
	size_t used;               /* of a line that has not ended yet */
	bool too_long;             /* the rest of one that did not fit is left out */
};

/*
 * "fd:CTL[,ACK]" or "fifo:CTL[,ACK]"; NULL: nothing. Returns false after saying what is wrong.
 * To be called before the command is made, which is not to have these files.
 */
bool record_control_open(struct record_control *control, const char *text);
void record_control_close(struct record_control *control);

/*
 * Reads what has come, and does it; what is done is acknowledged. *stop_ret becomes true where it
 * was "stop". Once nobody can send any more, control->fd is -1. Returns false after saying that
 * a command failed.
 */
bool record_control_read(struct record_control *control, struct sp_capture *capture,
			 bool *stop_ret);

#endif
