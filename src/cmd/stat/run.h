/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of sprof stat's runs, and their output. */
#ifndef CMD_STAT_RUN_H
#define CMD_STAT_RUN_H

#include <sprof/private/command.h>
#include "cmd/common/control.h"
#include "cmd/common/session.h"
#include "cmd/stat/stat.h"
#include "output_file.h"

/* State of one call of `sprof stat`, with all its runs. */
struct counting {
	struct sp_ctx *ctx;
	const struct stat_arguments *arguments;
	struct stat_style style;
	struct output_file file;   /* style.out's file; zeroed: it is a standard stream or --log-fd */
	struct control control;
	const char *what;          /* target as the header names it: 'COMMAND ARG' */
	struct session session;    /* its member expects_term applies to the current run */
	struct sp_stat_mean elapsed;
	double *runs_ns;
	/* Means over several runs, one item for each row. */
	struct sp_stat_mean *values, *enabled, *running;
	size_t value_count;
	int status;                /* wait status of the last command */
};

/* State of one run. */
struct run {
	struct counting *counting;
	struct sp_stat *stat;
	uint64_t next_print_ns, next_read_ns, enable_ns, end_ns; /* times of the next actions; 0: never */
	uint64_t printed_ns;       /* elapsed time at the last printed interval */
	uint64_t intervals;
	bool has_metrics;          /* at least one row has a metric that --metric-only can print */
};

/* Opens style.out. Returns false after printing the error. */
bool counting_open_output(struct counting *counting);
/* Flushes and closes style.out. Returns false after printing that a write failed. */
bool counting_close_output(struct counting *counting);

/* Reads the counters and prints their counts since the last interval. */
void stat_run_print_interval(struct run *run);

/*
 * Adds a finished run to the means, and prints counts and notes if they are complete. `last`: no run
 * follows.
 */
void stat_run_finish(struct run *run, bool last);

#endif
