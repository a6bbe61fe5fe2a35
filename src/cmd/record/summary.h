/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that sprof record prints when a recording is complete. */
#ifndef CMD_RECORD_SUMMARY_H
#define CMD_RECORD_SUMMARY_H

#include "cmd/record/arguments.h"

/*
 * Prints the summary; call it after sp_capture_stop(). `files`: number of output files already printed
 * (rotation). `failed`: an error was printed, which explains missing samples.
 */
void record_print_summary(const struct record_arguments *arguments, const struct sp_capture *capture,
			  size_t files, bool failed);

#endif
