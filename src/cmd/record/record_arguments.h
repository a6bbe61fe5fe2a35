/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of sprof record. */
#ifndef CMD_RECORD_RECORD_ARGUMENTS_H
#define CMD_RECORD_RECORD_ARGUMENTS_H

#include <sprof/capture.h>
#include "cmd/common/event_lists.h"
#include "options.h"

/* Groups of options, as struct sp_capture_options needs them. */
struct record_options {
	struct sp_capture_target target;
	struct sp_capture_sampling sampling;
	struct sp_capture_fields fields;
	struct sp_capture_chains chains;
	struct sp_capture_buffers buffers;
	struct sp_capture_output output;
	struct sp_capture_schedule schedule;
};

struct record_arguments {
	struct record_options options;
	struct option_numbers pids, tids;
	struct event_lists events;
	struct sp_capture_span *spans;
	const char *command_name; /* the command of sprof, for messages */
	const char *view;     /* report to write at the end: -o x.html; NULL: none */
	uint64_t repeat;      /* number of runs; 0: not given */
	const char *versus;   /* other command of --repeat; NULL: none */
	const char *control;  /* value of --control, unparsed */
	uint64_t duration_ns; /* time limit; 0: until the targets end */
	bool quiet, verbose;
	bool no_summary;      /* do not print the hottest functions at the end */
	bool no_names;        /* do not store names in the recording */
	bool store_code;      /* store the instructions of sampled functions */
	bool dry_run;
	bool runtime_names;   /* set variables, so that language runtimes write symbols */
	int switches;         /* --switch-events; -1: not given */
	int command_lines;    /* --command-lines; -1: not given */
	bool habit;           /* set by options that are accepted for perf compatibility and have no effect;
			       * not read */
};

/*
 * Parses the command line. Returns -1 to continue, or the exit status. `options` then points into
 * `arguments` and argv. Call record_arguments_deinit() in either case.
 */
int record_arguments_parse(struct record_arguments *arguments, int argc, char **argv);
void record_arguments_deinit(struct record_arguments *arguments);

/* Makes the options refer to the parsed lists of events, processes and threads. */
void record_arguments_use_lists(struct record_arguments *arguments);

/* Checks combinations of options. Returns false after printing a message. */
bool record_arguments_check(const struct record_arguments *arguments);

/* Returns the options for sp_capture_new(). They point to `groups`, and the `size` members are set. */
struct sp_capture_options record_capture_options(struct record_options *groups);

/*
 * Returns whether COMMAND is not recorded, but only limits the duration, because -p, -t, -u, -a, -C
 * or a unit is recorded.
 */
bool record_command_is_limit(const struct record_options *options);

#endif
