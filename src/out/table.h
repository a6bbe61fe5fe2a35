/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two views that text is made of. */
#ifndef OUT_TABLE_H
#define OUT_TABLE_H

#include "out/output.h"

/* One line a row, under a line of titles. False when out of memory. */
bool table_write(const struct report *report, const struct sp_profile *profile, FILE *out);

/* The same of a group, with columns for each of its events, and ratios of them. */
bool table_write_group(const struct report *report, const struct joint_view *view, FILE *out);

/* The call tree; the profile has one. False when out of memory. */
bool tree_write(const struct report *report, const struct sp_profile *profile, FILE *out);

#endif
