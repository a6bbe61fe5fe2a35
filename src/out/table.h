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

/*
 * Writes how many samples were lost, "none lost" or "12 lost (1.2%)", to a buffer of LOST_SIZE
 * bytes. Nothing if a finding has what is missing.
 */
#define LOST_SIZE 128
void report_describe_lost(const struct sp_profile *profile, char *text, size_t size);

/* Writes why the event has no rows, and a remedy. */
void report_write_empty(const struct report *report, const struct sp_profile *profile, FILE *out);

/*
 * Chooses a table's columns, and writes a line with the keys that have one value in all rows: they
 * have no column; that line is empty, or absent from quiet reports, if there are none. The caller
 * frees table->columns. columns_fit() then sets their widths.
 */
void table_choose_columns(struct row_table *table, FILE *out);

/* Write one line: the titles, or a row. */
void table_write_titles(const struct row_table *table, FILE *out);
void table_write_row(const struct row_table *table, const struct table_line *cells, FILE *out);

/* Writes a line for each row, after a line of titles. */
void table_write(const struct report *report, const struct sp_profile *profile, FILE *out);

/* Writes the table of an event group, with columns for each of its events and their ratios. */
void table_write_group(const struct report *report, const struct joint_view *view, FILE *out);

/* Writes the call tree of a profile that has one. */
void tree_write(const struct report *report, const struct sp_profile *profile, FILE *out);

#endif
