/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing counts as perf stat does: its text, the columns of its -x and the keys of its -j. What
 * it does not say (95 % intervals) stands behind the rest of a line, or has keys of its own; CSV
 * has no place for it.
 */
#ifndef OUT_STAT_H
#define OUT_STAT_H

#include <stdbool.h>
#include <stdio.h>
#include <sprof/private/command.h>
#include <sprof/stat.h>

enum stat_kind { STAT_TEXT, STAT_CSV, STAT_JSON };

struct stat_style {
	FILE *out;
	enum stat_kind kind;
	const char *separator; /* CSV only */
	bool big_numbers;      /* with the locale's thousands separators; text only */
	enum sp_stat_aggregate aggregate;
	bool skip_zero;        /* rows that have counted nothing are left out */
	bool repeated;         /* several runs: the noise is shown */
	bool metric_only;      /* print ratios and no counts */
};

/* The counts of one run, one interval, or the means of several runs. */
struct stat_table {
	const struct sp_stat_event *events;
	size_t event_count;
	const struct sp_stat_place *places;
	size_t place_count;
	const struct sp_stat_row *rows;   /* [place * event_count + event] */
	const struct sp_stat_mean *means; /* the same of the runs' values; NULL: one run */
	double elapsed_ns;
	/* Before each row: of intervals, when it ended; "summary" of the rows at their end; or neither. */
	bool has_time;
	double time_ns;
	bool summary;
};

/* All rows. */
void stat_put_table(const struct stat_style *style, const struct stat_table *table);

/*
 * The columns' names, once in a while above the rows of intervals; those of metric_only always,
 * but not of JSON.
 */
void stat_put_columns(const struct stat_style *style, const struct stat_table *table);

/* Whether metric_only has anything to show. */
bool stat_has_metrics(const struct stat_table *table);

/* "Performance counter stats for WHAT:"; text only. */
void stat_put_header(const struct stat_style *style, const char *what, uint64_t runs);

/* Times of the whole run. */
struct stat_times {
	const struct sp_stat_mean *elapsed; /* in ns, of the runs */
	const double *runs_ns;              /* each, for --table; NULL: not asked for */
	bool has_usage;                     /* one run of a command */
	uint64_t user_ns, system_ns;
	bool null_run;
};

/* Times at the end; text only. */
void stat_put_footer(const struct stat_style *style, const struct stat_times *times);

#endif
