/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages about a recording without samples, and about processes that are not recorded. */
#ifndef CMD_RECORD_EMPTY_H
#define CMD_RECORD_EMPTY_H

#include "cmd/record/arguments.h"

/* Prints one line: the reason why there are no samples, and the remedy. */
void record_print_empty(const struct record_arguments *arguments, const struct sp_capture *capture,
			const char *path);

/*
 * Returns whether the recording lacks the command's samples because the kernel lost the records of
 * its start: the recording has failed.
 */
bool record_is_command_lost(const struct record_options *options,
			    const struct sp_capture *capture);

/* Returns `text`: the option for ring buffers four times as large, spelled as in reports. */
const char *record_larger_rings(const struct sp_capture_stats *stats, char text[32]);

/* Prints a line if processes that are not recorded used CPU time, or if samples are few. */
void record_print_unrecorded(const struct record_options *options,
			     const struct sp_capture *capture);

#endif
