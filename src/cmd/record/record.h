/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CMD_RECORD_RECORD_H
#define CMD_RECORD_RECORD_H

#include <sprof/capture.h>
#include <sprof/ctx.h>
#include "cmd/record/record_arguments.h"

/* Runs `sprof record`. `summary`: print the hottest functions at the end (record_print_hottest()). */
int record_run(struct sp_ctx *ctx, int argc, char **argv, bool summary);

/* Records what the arguments say. Returns the exit status. */
typedef int run_fn(struct sp_ctx *ctx, struct record_arguments *arguments);

/*
 * Records several runs by `run`, in children of this process, and compares them. The recorder's
 * words (output.cmdline) have "--" before the command. Returns the exit status.
 */
int record_repeat(struct sp_ctx *ctx, struct record_arguments *arguments, run_fn *run);

/*
 * Prints the hottest functions of a recording as one line of standard error, as `sprof report`
 * would show them. Prints nothing if standard error is not a terminal, if `path` (NULL: sprof.data)
 * is not a regular file, if the file cannot be analysed, or if that takes longer than 0.3 s or
 * until a signal can be read from `signal_fd`. A child of this process prints.
 */
void record_print_hottest(const struct sp_capture *capture, const char *path, int signal_fd);

/* Lines that sprof record prints when a recording is complete. */

/*
 * Prints the summary; call it after sp_capture_stop(). `files`: number of output files already
 * printed (rotation). `failed`: an error was printed, which explains missing samples.
 */
void record_print_summary(const struct record_arguments *arguments,
			  struct sp_capture *capture, size_t files, bool failed);

/* Messages about a recording without samples, and about processes that are not recorded. */

/* Prints one line: the reason why there are no samples, and the remedy. */
void record_print_empty(const struct record_arguments *arguments, struct sp_capture *capture,
			const char *path);

/*
 * Returns whether the recording lacks the command's samples because the kernel lost the records of
 * its start: the recording has failed.
 */
bool record_is_command_lost(const struct record_options *options,
			    struct sp_capture *capture);

/* Returns `text`: the remedy for lost samples; its option is that of reports. */
const char *record_loss_remedy(const struct record_options *options,
			       struct sp_capture *capture, char text[80]);

/* Prints a line if processes that are not recorded used CPU time, or if samples are few. */
void record_print_unrecorded(const struct record_options *options,
			     struct sp_capture *capture);

/*
 * Runs `sprof record ./prog ARG...`, then `sprof report` if sprof.data was written. Ends like the
 * program: returns its exit status, or ends this process by its signal.
 */
int program_run(char **words);

#endif
