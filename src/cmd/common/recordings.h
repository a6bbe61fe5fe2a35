/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens, checks and closes the recordings that report or script reads. */
#ifndef CMD_COMMON_RECORDINGS_H
#define CMD_COMMON_RECORDINGS_H

#include "cmd/common/input_options.h"

struct recordings {
	struct sp_recording *items; /* recordings and their readers, which recordings_close() frees */
	struct sp_time_span *times; /* parts of --time, TIME_RANGES for each recording; or NULL */
	size_t count;
};

/* Frees the readers and the arrays. Zeroed recordings are allowed. */
void recordings_close(struct recordings *recordings);

/*
 * Replaces the patterns of -e by the names of the events that they match. `add_up`: also adds up
 * the events of hybrid CPUs, if -e selects those of all PMUs. Returns false after printing the
 * error.
 */
bool recordings_select_events(const struct recordings *recordings, struct selection *selection,
			      bool add_up);

/* Computes each recording's times of --time. Returns false after printing the error. */
bool recordings_resolve_times(struct recordings *recordings, const struct selection *selection);

/*
 * Prints that no sample is within --time, and the time span of each recording. Does nothing without
 * --time.
 */
void recordings_print_span(const struct recordings *recordings, const struct selection *selection);

/* Prints the unreadable parts of each recording. Returns the exit status: 1 if there are any. */
int recordings_print_damage(const struct recordings *recordings);

/* Common sequence of commands that read recordings: report and script. */

struct recordings_run {
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
int recordings_run(const struct recordings_run *run, struct sp_ctx *ctx);

#endif
