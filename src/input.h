/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for commands that read a recording: its path, damage and time span. */
#ifndef INPUT_H
#define INPUT_H

#include <sprof/sprof.h>
#include "options.h"

/* Number of possible feature bits in the file's header. */
#define INPUT_FEATURES 256

/*
 * Returns the recording's path: `given` (value of -i) unless it is NULL. The default is sprof.data, or
 * perf.data if only that file exists.
 */
const char *input_path(const char *given);

/*
 * Returns the command, with -i and the recording unless its path is the default or NULL. It is
 * quoted for a shell. The caller frees it.
 */
char *input_command(const char *command, const char *path);

/*
 * Sets *given, the value of -i, to the operand `argv[operand]`, if there is one. Returns false after
 * printing an error if -i and the operands name more than one recording.
 */
bool input_operand(const char **given, int argc, char **argv, int operand);

/*
 * Opens the recording. `given` is the value of -i, or NULL. Returns NULL after printing the error and
 * its remedy.
 */
struct sp_reader *input_open(struct sp_ctx *ctx, const char *given);

/*
 * Prints which header features are unreadable. With !say, prints only tracepoint formats that are
 * unreadable. Returns the exit status: 1 if any feature is unreadable.
 */
int input_feature_damage(const struct sp_reader *reader, bool say);

/* Prints the unreadable parts of the file. Returns the exit status: 1 if there are any. */
int input_print_damage(struct sp_reader *reader);

#define INPUT_TEXT 192

/*
 * Writes the time span of the records that are missing at damage `index`, as a text in parentheses; ""
 * if it is unknown.
 */
const char *input_missing_time_text(struct sp_reader *reader, size_t index, char text[INPUT_TEXT]);

/*
 * Writes a sentence to `text` that the recording was not finished, with its last known time. Returns
 * NULL if it is complete, if that is unknown, or if input_print_damage() prints it.
 */
const char *input_unfinished(struct sp_reader *reader, char text[INPUT_TEXT]);

/*
 * Sets the times of the first and last sample: from the header, else by reading all records and
 * rewinding the reader. Sets both to 0 if there are no samples.
 */
struct sp_error *input_time(struct sp_reader *reader, uint64_t *first_ns, uint64_t *last_ns);

/* Returns false for sums of waits of perf record --off-cpu, which have a time above all others. */
bool input_has_own_time(const struct sp_sample *sample);

/* Returns whether perf or sprof recorded waits in any: then the default mode is wall, else cpu. */
bool recordings_have_waits(const struct sp_recording *recordings, size_t count);

/* Returns whether an event has samples of threads that leave a CPU: of waits, or of preemptions. */
bool event_is_of_switches(const char *event);

#endif
