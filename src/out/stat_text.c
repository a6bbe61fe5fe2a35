/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text output, equal to perf stat's in every column, because programs parse it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "out/stat_internal.h"
#include "term.h"

/* Width of a derived metric, with the " # " before it. */
#define METRIC_WIDTH 35

/* Widths of the number and of the event's name; the unit is between them. */
#define NUMBER_WIDTH 18
#define NAME_WIDTH 32
#define NAME_WIDTH_NONE 25 /* width of the name column if nothing was counted */

/* Longest bar of --table, in characters. */
#define BAR_MAX 50

static void put_number(const struct stat_line *line, double number, int width)
{
	int digits = floor(number) != number ? 2 : 0;
	if (line->style->big_numbers)
		fprintf(line->style->out, "%'*.*f", width, digits, number);
	else
		fprintf(line->style->out, "%*.*f", width, digits, number);
}

static void put_figure(const struct stat_line *line, const struct sp_stat_derived *derived)
{
	FILE *out = line->style->out;
	struct stat_figure figure = stat_figure_of(derived);
	if (!*figure.number) {
		fprintf(out, "%-*s", METRIC_WIDTH, "");
		return;
	}
	int used = fprintf(out, " # %s", figure.number);
	fprintf(out, " %-*s", METRIC_WIDTH - used - 1, figure.unit);
}

static void put_second_figure(const struct stat_line *line)
{
	fputc('\n', line->style->out);
	if (line->table->has_time)
		fprintf(line->style->out, "%16s ", "");
	stat_put_text_place(line);
	fprintf(line->style->out, "%*s", NUMBER_WIDTH + 1 + line->unit_width + 1 + NAME_WIDTH, "");
	put_figure(line, &line->derived[1]);
}

static void put_certainty(const struct stat_line *line)
{
	FILE *out = line->style->out;
	double low, high;
	if (line->mean && stat_noise_percent(line->mean) != 0)
		fprintf(out, "  ( +-%6.2f%% )", stat_noise_percent(line->mean));
	if (line->row->running_ns != line->row->enabled_ns)
		fprintf(out, "  (%.2f%%)", stat_running_percent(line->row));
	if (!line->row->counted || !stat_interval_of(line, &low, &high))
		return;
	fputs("  [95%: ", out);
	put_number(line, low, 0);
	fputs(" .. ", out);
	put_number(line, high, 0);
	fputs("]", out);
}

void stat_put_text_line(const struct stat_line *line)
{
	FILE *out = line->style->out;
	stat_put_text_prefix(line);
	if (line->row->counted)
		put_number(line, line->row->value * line->event->scale, NUMBER_WIDTH);
	else
		fprintf(out, "%*s", NUMBER_WIDTH, stat_missing_reason(line));
	putc(' ', out);
	stat_put_name(out, line->event->unit, -line->unit_width);
	putc(' ', out);
	stat_put_name(out, line->event->name,
		      line->row->counted ? -NAME_WIDTH : -NAME_WIDTH_NONE);
	if (line->event->cgroup) {
		putc(' ', out);
		stat_put_name(out, line->event->cgroup, 0);
	}
	if (line->derived_count)
		put_figure(line, &line->derived[0]);
	else
		fprintf(out, "%-*s", METRIC_WIDTH, "");
	if (line->derived_count > 1)
		put_second_figure(line);
	put_certainty(line);
	fputc('\n', out);
}

void stat_put_header(const struct stat_style *style, const char *what, uint64_t runs)
{
	fputs("\n Performance counter stats for ", style->out);
	stat_put_name(style->out, what, 0);
	if (runs > 1)
		fprintf(style->out, " (%llu runs)", (unsigned long long)runs);
	fputs(":\n\n", style->out);
}

/* Returns the decimals of seconds that show three significant digits of a standard error. */
static int precision_of(double seconds)
{
	return seconds > 0 && seconds <= 1 ? (int)lround(ceil(-log10(seconds))) + 2 : 2;
}

static void put_runs(const struct stat_style *style, const struct stat_times *times, int precision)
{
	double mean = times->elapsed->mean / 1e9;
	char number[64];
	snprintf(number, sizeof(number), " %17.*f", precision, mean);
	int indent = (int)strspn(number, " ");
	fprintf(style->out, "%*s# Table of individual measurements:\n", indent, "");
	for (uint64_t i = 0; i < times->elapsed->count; i++) {
		double run = times->runs_ns[i] / 1e9;
		int bar = run > 0 ? 1 + abs((int)(100 * (run - mean) / run) / 5) : 1;
		fprintf(style->out, " %17.*f (%+.*f) ", precision, run, precision, run - mean);
		for (int j = 0; j < bar && j < BAR_MAX; j++)
			fputc('#', style->out);
		fputc('\n', style->out);
	}
	fprintf(style->out, "\n%*s# Final result:\n", indent, "");
}

void stat_put_footer(const struct stat_style *style, const struct stat_times *times)
{
	FILE *out = style->out;
	double mean = times->elapsed->mean / 1e9, error = sp_stat_mean_error(times->elapsed) / 1e9;
	if (!times->null_run)
		fputc('\n', out);
	if (!style->repeated) {
		fprintf(out, " %17.9f seconds time elapsed", mean);
		if (times->has_usage)
			fprintf(out, "\n\n %17.9f seconds user\n %17.9f seconds sys\n",
				(double)times->user_ns / 1e9, (double)times->system_ns / 1e9);
	} else {
		int precision = precision_of(error);
		double half = sp_stat_mean_interval(times->elapsed) / 1e9;
		if (times->runs_ns)
			put_runs(style, times, precision);
		fprintf(out, " %17.*f +- %.*f seconds time elapsed", precision, mean, precision, error);
		if (stat_noise_percent(times->elapsed) != 0)
			fprintf(out, "  ( +-%6.2f%% )", stat_noise_percent(times->elapsed));
		if (half > 0)
			fprintf(out, "  [95%%: %.*f .. %.*f]", precision, mean > half ? mean - half : 0,
				precision, mean + half);
	}
	fputs("\n\n", out);
}
