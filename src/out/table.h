/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table and call tree, the two parts of a text report. */
#ifndef OUT_TABLE_H
#define OUT_TABLE_H

#include "out/output.h"

/* Writes a line for each row, after a line of titles. Returns false when out of memory. */
bool table_write(const struct report *report, const struct sp_profile *profile, FILE *out);

/* Writes the table of an event group, with columns for each of its events and their ratios. */
bool table_write_group(const struct report *report, const struct joint_view *view, FILE *out);

/* Writes the call tree of a profile that has one. Returns false when out of memory. */
bool tree_write(const struct report *report, const struct sp_profile *profile, FILE *out);

#endif
