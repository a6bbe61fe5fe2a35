/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and names as people read them. Each returns text in `buffer`, or a constant. */
#ifndef OUT_FORMAT_H
#define OUT_FORMAT_H

#include <sprof/profile.h>
#include "term.h"

enum { FORMAT_SIZE = 64 };

/* "4,996" */
const char *format_count(uint64_t count, char buffer[FORMAT_SIZE]);

/* "62.31%"; what is neither 0 nor 1 is "<0.01%" to ">99.99%" */
const char *format_share(double share, char buffer[FORMAT_SIZE]);

/* "60.9–63.6", " 4.5– 5.5" in percent: range_width() columns. */
const char *format_range(const struct term *term, const struct sp_share *share, int decimals,
			 char buffer[FORMAT_SIZE]);

/* Decimals for intervals: 2 if even that of a share of one half is less than 1 % wide. */
int range_decimals(uint64_t samples);

static inline int range_width(int decimals)
{
	return 2 * (decimals + 3) + 1;
}

/* "99.9%", "<0.1%": for sentences. */
const char *format_percent(double share, char buffer[FORMAT_SIZE]);

/* "1.24", or of a part of a whole "3.41%". */
const char *format_ratio(double ratio, bool percent, char buffer[FORMAT_SIZE]);

/* "1.20–1.28", "3.1–3.7" of percents. */
const char *format_ratio_range(const struct term *term, const struct sp_ratio *ratio, bool percent,
			       char buffer[FORMAT_SIZE]);

/* "5.02 s", "12.3 ms", "1 h 02 min" */
const char *format_duration(const struct term *term, uint64_t ns, char buffer[FORMAT_SIZE]);

/* "[k]" for the kernel, "[.]" for a program, …, as perf has them. */
const char *format_level(enum sp_level level);

/* How the share of a row or node is to be shown. */
enum term_style share_style(double share);

/*
 * A name for people: std::string and the like for their templates. If it takes more than
 * `width` columns (0: no limit), without the text of its parameters, then of its template arguments ("f(…)",
 * "map<…>::find(…)"). It may still be too wide. Returns `name`, or memory that the
 * caller frees, which *made then is; NULL when out of memory.
 */
const char *name_shorten(const struct term *term, const char *name, int width, char **made);

/* Bounds of a share if up to `missing` weight is missing in all, and up to `own` of it is this row's. */
void format_bounds(const struct sp_weight *weight, uint64_t missing, uint64_t own,
		   double *low_ret, double *high_ret);

#endif
