/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command of sprof: one file in cmd/, one line in main.c. */
#ifndef COMMAND_H
#define COMMAND_H

#include <sprof/sprof.h>

struct command {
	const char *name;
	const char *summary; /* one line in `sprof help` */
	/* argv[0] is the command's name. Returns the exit status. */
	int (*run)(struct sp_ctx *ctx, int argc, char **argv);
};

extern const struct command command_annotate;
extern const struct command command_archive;
extern const struct command command_browse;
extern const struct command command_diff;
extern const struct command command_info;
extern const struct command command_list;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_script;
extern const struct command command_stat;
extern const struct command command_top;

/* Exit statuses for sprof's own errors, as opposed to the recorded command's status. */
enum {
	EXIT_USAGE = 129,    /* usage error; perf's status */
	EXIT_RECORDER = 125, /* every failure of the recorder itself */
};

#endif
