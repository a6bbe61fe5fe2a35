/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of `sprof stat`. */
#ifndef CMD_STAT_STAT_ARGUMENTS_H
#define CMD_STAT_STAT_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "cmd/common/event_lists.h"
#include "options.h"
#include "out/stat_output.h"

/* Options for sp_stat_new(). The groups of `all` are set when it is called. */
struct stat_request {
	struct sp_stat_target target;
	struct sp_stat_event_options events;
	struct sp_stat_options all;
};

/* More than 30 members, because most options have one. */
struct stat_arguments {
	struct stat_request options;
	struct option_numbers pids, tids;
	struct option_strings cgroups, each_cgroup;
	struct event_lists events;
	uint64_t runs;         /* number of runs; 0: until interrupted */
	uint64_t interval_ms, interval_count, timeout_ms;
	int64_t delay_ms;      /* delay of counting; -1: until --control enables events */
	bool interval_clear, summary, no_csv_summary, table, metric_only, quiet, verbose, append, sync, json;
	bool repeated;         /* -r was given with more than one run */
	int big_numbers, scale; /* 0 or 1; -1: not given */
	const char *separator, *output, *log_fd, *control, *before, *after;
};

/*
 * Parses the command line. Returns -1 to continue, or the exit status. *operands is the command's index
 * in argv.
 */
int stat_arguments_parse(struct stat_arguments *arguments, int argc, char **argv, int *operands);

void stat_arguments_deinit(struct stat_arguments *arguments);

#endif
