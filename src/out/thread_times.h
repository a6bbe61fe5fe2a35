/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile's time of threads by state, in the head, JSON and CSV. columns.h has the table's. */
#ifndef OUT_THREAD_TIMES_H
#define OUT_THREAD_TIMES_H

#include "json.h"
#include "out/report.h"

/*
 * Writes the parts of a profile's time to `buffer`: "15.0 s of 7 threads: 2.0 s on CPU, 0.4 s waiting for
 * CPU, 12.6 s blocked (1,403 waits, longest 1.00 s)". Wake-ups: "1,403 wake-ups ended 12.6 s of 13.1 s of
 * blocked time (longest 1.00 s), 0.4 s from wake-up to running".
 */
void times_describe(const struct term *term, const struct sp_profile *profile, char *buffer, size_t size);

/* Writes a line about threads that are left out, if any. */
void times_write_idle(const struct term *term, const struct sp_profile *profile, FILE *out);

/* Writes an object of times as the member `key`. */
void times_write_json(struct json *json, const char *key, const struct sp_times *times);

/* Writes the members of a profile in a mode of time. */
void times_write_json_head(struct json *json, const struct sp_profile *profile);

/* Titles of times_write_csv(), each after a comma. */
void times_write_csv_titles(FILE *out);

/* Writes the times of self and total (NULL: unknown) of a row, each after a comma. */
void times_write_csv(const struct sp_times *self, const struct sp_times *total, FILE *out);

#endif
