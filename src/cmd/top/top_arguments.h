/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of sprof top. */
#ifndef CMD_TOP_TOP_ARGUMENTS_H
#define CMD_TOP_TOP_ARGUMENTS_H

#include "cmd/record/record_arguments.h"
#include "cmd/report/report_arguments.h"

struct top_arguments {
	struct record_arguments record;
	struct report_arguments report;
	bool all_or_own;     /* no target is given: all processes, or else the user's */
	uint64_t delay_ns;   /* between refreshes; 0: 2 s, or more if a refresh takes long */
	uint64_t window_ns;
	uint64_t most;       /* rows of an event; 0: all */
	uint64_t refreshes;  /* stop after them; 0: no limit */
	bool stdio, json;
	const char *file;    /* recording of the last window, or of key S; NULL: not given */
	const char *sort;    /* keys of rows; NULL: the default */
	int children;        /* -1: not given */
	char *report_words[8];
};

/*
 * Parses the command line. Returns -1 to continue, or the exit status. The other members may point
 * into `arguments` and argv. Call top_arguments_deinit() in either case.
 */
int top_arguments_parse(struct top_arguments *arguments, int argc, char **argv);
void top_arguments_deinit(struct top_arguments *arguments);

#endif
