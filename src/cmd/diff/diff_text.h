/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and sentences of a comparison, which text, Markdown and the page have in common. */
#ifndef CMD_DIFF_DIFF_TEXT_H
#define CMD_DIFF_DIFF_TEXT_H

#include "cmd/diff/comparison.h"

enum { TEXT_SIZE = 32 };

/* Most places that are shown. */
#define DIFF_PLACES 3

/* Formats a change: "+6.1%", "-12%", "×3.4". */
const char *format_change(const struct comparison *comparison, double ratio, char text[TEXT_SIZE]);

/* Formats the interval of a change: "+4.8 to +7.4%"; "" if it is not known. */
const char *format_interval(const struct comparison *comparison, const struct sp_change *change,
			    char text[2 * TEXT_SIZE]);

/* Formats a quantity in diff_unit(): ms, millions of events, or a share in percent. */
const char *format_quantity(const struct comparison *comparison, double quantity,
			    char text[TEXT_SIZE]);
const char *diff_unit(const struct comparison *comparison);

/* Returns the verdict of a table's row: "?" if it is inconclusive, "" if it is untested. */
const char *format_verdict(const struct sp_change *change);

/*
 * Returns a row's name, made of its keys, for the caller to free. Names of functions that are wider
 * than `width` are shortened (0: none is). The file is at `column` or after.
 */
char *diff_make_name(const struct comparison *comparison, const struct sp_diff_row *row, int width,
		     int column);

/* Write a line each: the runs of a side, and the change of the total. */
void diff_put_side(const struct comparison *comparison, enum sp_diff_side side, FILE *out);
void diff_put_total(const struct comparison *comparison, FILE *out);

/* Writes "total +6.1% (+4.8 to +7.4%), 2 functions changed, by 5 and 5 runs". */
void diff_put_summary(const struct comparison *comparison, FILE *out);

/*
 * Returns the deepest node of the call tree that changed, with the largest difference after that of
 * `last` (0: of all); 0: there is none.
 */
size_t diff_next_place(const struct comparison *comparison, size_t last);

/* Writes "found slower below main > … > parse: 154.9, now 175.2 ms"; "…" is left out. */
void diff_put_place(const struct comparison *comparison, size_t index, FILE *out);

/* Returns how many runs of each side would decide; 0: it is decided, or no number is known. */
double diff_runs_needed(const struct sp_change *change);

/*
 * Writes what limits the comparison, and how to get a better one, a line for each fact. `row_runs`:
 * the most runs that a row needs of those which are shown.
 */
void diff_put_limits(const struct comparison *comparison, double row_runs, FILE *out);

#endif
