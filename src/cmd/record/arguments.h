/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of sprof record. */
#ifndef CMD_RECORD_ARGUMENTS_H
#define CMD_RECORD_ARGUMENTS_H

#include <sprof/capture.h>
#include "cmd/common/event_lists.h"
#include "options.h"

struct record_arguments {
	struct sp_capture_options options;
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

#endif
