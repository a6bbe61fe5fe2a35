/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of sprof record. */
#ifndef CMD_RECORD_ARGUMENTS_H
#define CMD_RECORD_ARGUMENTS_H

#include <sprof/capture.h>
#include "cmd/common/event_lists.h"
#include "options.h"

/* Groups of the recording's options. */
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
	const char *control;  /* --control, as it was typed */
	uint64_t duration_ns; /* 0: until it ends */
	bool quiet, verbose;
	bool no_summary;      /* the hottest functions are not printed at the end */
	bool dry_run;
	bool habit;           /* accepted for perf's sake: always on here */
};

/*
 * Returns -1 to go on, or the exit status to end with. `options` points into the rest of it,
 * and argv, then; to be released by record_arguments_deinit() in either case.
 */
int record_arguments_parse(struct record_arguments *arguments, int argc, char **argv);
void record_arguments_deinit(struct record_arguments *arguments);

/* The options for sp_capture_new(); they point to `groups`, whose sizes are set. */
struct sp_capture_options record_capture_options(struct record_options *groups);

#endif
