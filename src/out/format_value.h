/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formatting of numbers and names for people. Functions return text in `buffer`, or a constant. */
#ifndef OUT_FORMAT_VALUE_H
#define OUT_FORMAT_VALUE_H

#include <sprof/profile.h>
#include "term.h"

enum { FORMAT_SIZE = 64 };

/* Formats a count: "4,996". */
const char *format_count(uint64_t count, char buffer[FORMAT_SIZE]);

/* Formats a share: "62.31%". Values between 0 and 1 are shown as "<0.01%" to ">99.99%". */
const char *format_share(double share, char buffer[FORMAT_SIZE]);

/* Formats an interval in percent, such as "60.9–63.6", in range_width() columns. */
const char *format_range(const struct term *term, const struct sp_share *share, int decimals,
			 char buffer[FORMAT_SIZE]);

/* Removes the blanks that align an interval in a column; for sentences. Returns the text. */
char *remove_padding(char *text);

/*
 * Returns the number of decimals for intervals: 2 if the samples suffice for an interval below 1 %
 * at a share of one half, else 1.
 */
int range_decimals(uint64_t samples);

static inline int range_width(int decimals)
{
	return 2 * (decimals + 3) + 1;
}

/* Formats a share for sentences: "99.9%", "<0.1%". */
const char *format_share_short(double share, char buffer[FORMAT_SIZE]);

/* Formats a ratio: "1.24", or, if it is a part of a whole, "3.41%". */
const char *format_ratio(double ratio, bool percent, char buffer[FORMAT_SIZE]);

/* Formats a ratio's interval: "1.20–1.28", or "3.1–3.7" if in percent. */
const char *format_ratio_range(const struct term *term, const struct sp_ratio *ratio, bool percent,
			       char buffer[FORMAT_SIZE]);

/* Formats a duration: "5.02 s", "12.3 ms", "1 h 02 min". */
const char *format_duration(const struct term *term, uint64_t ns, char buffer[FORMAT_SIZE]);

/* Formats a time in ms, without a unit: "12,345", "12.3", "0.04". */
const char *format_ms(uint64_t ns, char buffer[FORMAT_SIZE]);

/* Returns perf's mark of a privilege level: "[k]" for the kernel, "[.]" for a program, …. */
const char *format_level(enum sp_level level);

/* Returns the colour style for a share of a row or node. */
enum term_style share_style(double share);

/*
 * Shortens a C++ name: std::string and similar names replace their templates. A name wider than `width`
 * columns (0: no limit) loses the text of its parameters, then a Java package and result type, then
 * template arguments ("f(…)", "Arrays.sort(…)", "map<…>::find(…)"); the result may still be too wide.
 * Returns `name`, or a part of *made, which the caller frees.
 */
const char *name_shorten(const struct term *term, const char *name, int width, char **made);

/*
 * Computes the least and greatest possible share if up to `missing` weight is missing in total, and up
 * to `own` of it belongs to this row.
 */
void share_bounds(const struct sp_weight *weight, uint64_t missing, uint64_t own,
		   double *low_ret, double *high_ret);

#endif
