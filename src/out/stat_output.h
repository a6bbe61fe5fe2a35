/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of counts in the formats of perf stat: its text, the columns of -x and the keys of -j. The 95
 * % intervals, which perf does not have, follow in a line of text or have their own keys; CSV omits
 * them.
 */
#ifndef OUT_STAT_OUTPUT_H
#define OUT_STAT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sprof/private/command.h>
#include <sprof/stat.h>

enum stat_kind { STAT_TEXT, STAT_CSV, STAT_JSON };

struct stat_style {
	FILE *out;
	enum stat_kind kind;
	const char *separator; /* CSV only */
	bool big_numbers;      /* print the locale's thousands separators; text only */
	enum sp_stat_aggregate aggregate;
	bool skip_zero;        /* omit rows with a count of 0 */
	bool repeated;         /* several runs: their variation is shown */
	bool metric_only;      /* print derived metrics and no counts */
};

/* Counts of one run or one interval, or the means of several runs. */
struct stat_table {
	const struct sp_stat_event *const *events;
	size_t event_count;
	const struct sp_stat_place *const *places;
	size_t place_count;
	const struct sp_stat_row *const *rows; /* place p, event e: [p * event_count + e] */
	const struct sp_stat_mean *means; /* means of several runs, with the same indexes; NULL: one run */
	double elapsed_ns;
	/* First column of each row: "summary", the end time of the interval (if has_time), or none. */
	bool has_time;
	double time_ns;
	bool summary;
};

/* Writes all rows of counts. */
void stat_put_table(const struct stat_style *style, const struct stat_table *table);

/*
 * Writes the titles of the columns: repeatedly between intervals, and always for metric_only. Writes
 * nothing for JSON.
 */
void stat_put_columns(const struct stat_style *style, const struct stat_table *table);

/* Returns whether the table has metrics that metric_only can show. */
bool stat_has_metrics(const struct stat_table *table);

/* Writes "Performance counter stats for WHAT:"; text only. */
void stat_put_header(const struct stat_style *style, const char *what, uint64_t runs);

/* Times that are printed below the counts, of one run or as means of several runs. */
struct stat_times {
	const struct sp_stat_mean *elapsed; /* elapsed time in ns: mean of all runs */
	const double *runs_ns;              /* elapsed time of each run, for --table; NULL: not shown */
	bool has_usage;                     /* user and system time are known: one run of a command */
	uint64_t user_ns, system_ns;
	bool null_run;
};

/* Writes the times below the counts; only for text. */
void stat_put_footer(const struct stat_style *style, const struct stat_times *times);

#endif
