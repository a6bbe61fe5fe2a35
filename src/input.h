/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recording that a reading command works on. */
#ifndef INPUT_H
#define INPUT_H

#include <sprof/sprof.h>
#include "options.h"

/* Number of feature bits in a header. */
#define INPUT_FEATURES 256

/* "sprof.data", or "perf.data" where only that is there; else what -i said. */
const char *input_path(const char *given);

/*
 * Sets *given, the value of -i, to the operand `argv[operand]`, if there is one. Returns false after
 * printing that there are two recordings.
 */
bool input_operand(const char **given, int argc, char **argv, int operand);

/*
 * Opens it; NULL after having said why that is not possible and what to do.
 * `given` is the value of -i, or NULL.
 */
struct sp_reader *input_open(struct sp_ctx *ctx, const char *given);

/*
 * Says what of the header's features cannot be read; with !say, only what sp_description_new()
 * does not. Returns the exit status: 1 if anything.
 */
int input_feature_damage(const struct sp_reader *reader, bool say);

/* Says what of the file could not be read. Returns the exit status: 1 if anything. */
int input_damage(struct sp_reader *reader);

#define INPUT_TEXT 192

/* Writes the time span missing at a place of damage, in parentheses; "" if unknown. */
const char *input_missing(struct sp_reader *reader, size_t index, char text[INPUT_TEXT]);

/*
 * States that a recording has no end, and its approximate last time. NULL if it has an end, if that
 * is unknown, or if input_damage() prints it.
 */
const char *input_unfinished(struct sp_reader *reader, char text[INPUT_TEXT]);

/*
 * The time of the first and last sample: what the header says, else by reading all, and then from
 * the beginning again. 0, 0 where there are no samples.
 */
struct sp_error *input_time(struct sp_reader *reader, uint64_t *first_ns, uint64_t *last_ns);

bool input_has_event(const struct sp_reader *reader, const char *name);

/* Whether the recording has each of these events (-e); says which it has not. */
bool input_has_events(const struct sp_reader *reader, const struct option_strings *names);

#endif
