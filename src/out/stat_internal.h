/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that the three formats of counts share. */
#ifndef OUT_STAT_INTERNAL_H
#define OUT_STAT_INTERNAL_H

#include <sprof/private/command.h>
#include "out/stat_output.h"

/* One row of counts, with all data that its line shows. */
struct stat_line {
	const struct stat_style *style;
	const struct stat_table *table;
	const struct sp_stat_event *event;
	const struct sp_stat_place *place;
	const struct sp_stat_row *row;
	const struct sp_stat_mean *mean; /* means of several runs; NULL: one run */
	struct sp_stat_derived derived[2];
	size_t derived_count;
	int unit_width;
};

/* Formatted derived metric. */
struct stat_figure {
	char number[32];  /* "   0.540"; "" if it is not known */
	char text[32];    /* the number without blanks and percent sign */
	char unit[32];    /* "CPUs utilized", "K/sec" */
	double value;     /* value in this unit */
};

struct stat_figure stat_figure_of(const struct sp_stat_derived *derived);

/* Writes a name without control characters; `width` as in printf's %*s, in columns. */
void stat_put_name(FILE *out, const char *text, int width);

/* Names of kinds of places. */
extern const char *const stat_place_titles[];

#define STAT_PLACE_SIZE 128

/* Returns a place's name in `name`: "0" of a CPU, "S0-D0-C3" of a core. */
const char *stat_place_name(const struct stat_line *line, char name[STAT_PLACE_SIZE]);

/* Returns whether places have several CPUs; their number is a column. */
bool stat_has_members(const struct stat_style *style);

/* Returns the text for a missing count: "<not supported>" or "<not counted>". */
const char *stat_missing_reason(const struct stat_line *line);

/* Returns the standard error of the mean, in percent of the mean. */
double stat_noise_percent(const struct sp_stat_mean *mean);

/* Returns the time that the event ran on a counter, in percent of its enabled time. */
double stat_running_percent(const struct sp_stat_row *row);

/*
 * Computes the 95 % interval of the count, from the variation of several runs or from the event's
 * multiplexing. Returns false if there is none.
 */
bool stat_interval_of(const struct stat_line *line, double *low_ret, double *high_ret);

void stat_put_text_line(const struct stat_line *line);
void stat_put_csv_line(const struct stat_line *line);
void stat_put_json_line(const struct stat_line *line);

/*
 * Writes the place of a line of text (CPU, thread, core, ...); nothing if the counts are the sum of all
 * places.
 */
void stat_put_text_place(const struct stat_line *line);

/* Writes the columns before the count: time and place; for JSON also the brace. */
void stat_put_text_prefix(const struct stat_line *line);
void stat_put_csv_prefix(const struct stat_line *line);
void stat_put_json_prefix(const struct stat_line *line);

/* Output of metric_only: the metrics' names, and a line of metrics for each place. */
void stat_put_metric_columns(const struct stat_style *style, const struct stat_table *table);
void stat_put_metrics(const struct stat_style *style, const struct stat_table *table);

#endif
