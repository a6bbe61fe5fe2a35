/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that sprof record prints when a recording is complete. */
#ifndef CMD_RECORD_SUMMARY_H
#define CMD_RECORD_SUMMARY_H

#include "cmd/record/arguments.h"

/*
 * After sp_capture_stop(). `files` is how many were named already (switched output); `failed`:
 * an error was printed, which explains a missing sample.
 */
void record_print_summary(const struct record_arguments *arguments, const struct sp_capture *capture,
			  size_t files, bool failed);

/* Whether a COMMAND only limits the duration of a recording of something else. */
bool record_command_is_limit(const struct record_options *options);

#endif
