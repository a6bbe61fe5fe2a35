/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a text report: head, table and call tree. */
#ifndef OUT_TABLE_H
#define OUT_TABLE_H

#include "out/columns.h"
#include "out/output.h"

/* Writes the recordings and the command in one line, cut to the terminal's width. */
void report_write_title(const struct report *report, FILE *out);

/* Writes the event's counts, losses and stacks. */
void report_write_event(const struct report *report, const struct sp_profile *profile, FILE *out);

/* Writes why the event has no rows, and a remedy. */
void report_write_empty(const struct report *report, const struct sp_profile *profile, FILE *out);

/*
 * Chooses a table's columns, and writes a line with the keys that have one value in all rows: they
 * have no column; that line is empty, or absent from quiet reports, if there are none. The caller
 * frees table->columns. columns_fit() then sets their widths. Returns false when out of memory.
 */
bool table_choose_columns(struct row_table *table, FILE *out);

/* Write one line: the titles, or a row. table_write_row() returns false when out of memory. */
void table_write_titles(const struct row_table *table, FILE *out);
bool table_write_row(const struct row_table *table, const struct table_line *cells, FILE *out);

/* Writes a line for each row, after a line of titles. Returns false when out of memory. */
bool table_write(const struct report *report, const struct sp_profile *profile, FILE *out);

/* Writes the table of an event group, with columns for each of its events and their ratios. */
bool table_write_group(const struct report *report, const struct joint_view *view, FILE *out);

/* Writes the call tree of a profile that has one. Returns false when out of memory. */
bool tree_write(const struct report *report, const struct sp_profile *profile, FILE *out);

#endif
