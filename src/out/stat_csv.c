/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CSV with the columns of perf stat -x: [time,] [place, [members,]] count, unit, event, [cgroup,]
 * [variation of runs,] running time in ns, running time in percent, metric, its unit. Like perf, it
 * quotes nothing, except names that contain the separator or look like a formula.
 */
#include <math.h>
#include "out/csv_cell.h"
#include "out/stat_internal.h"

static void put_place(const struct stat_line *line)
{
	FILE *out = line->style->out;
	const char *sep = line->style->separator;
	char name[STAT_PLACE_SIZE];
	if (line->style->aggregate == SP_STAT_GLOBAL)
		return;
	fputs(line->style->aggregate == SP_STAT_CPU ? "CPU" : "", out);
	cell_put(stat_place_name(line, name), sep, out);
	fputs(sep, out);
	if (stat_has_members(line->style))
		fprintf(out, "%u%s", line->row->members, sep);
}

void stat_put_csv_prefix(const struct stat_line *line)
{
	FILE *out = line->style->out;
	if (line->table->has_time) {
		uint64_t ns = (uint64_t)line->table->time_ns;
		fprintf(out, "%6llu.%09llu%s", (unsigned long long)(ns / 1000000000),
			(unsigned long long)(ns % 1000000000), line->style->separator);
	} else if (line->table->summary) {
		fprintf(out, "%16s%s", "summary", line->style->separator);
	}
	put_place(line);
}

static void put_figure(const struct stat_line *line, size_t index)
{
	const char *sep = line->style->separator;
	if (index >= line->derived_count || !line->derived[index].known) {
		fprintf(line->style->out, "%s%s", sep, sep);
		return;
	}
	struct stat_figure figure = stat_figure_of(&line->derived[index]);
	fprintf(line->style->out, "%s%s%s%s", sep, figure.text, sep, figure.unit);
}

static void put_cell(const struct stat_line *line, const char *text)
{
	fputs(line->style->separator, line->style->out);
	cell_put(text, line->style->separator, line->style->out);
}

void stat_put_csv_line(const struct stat_line *line)
{
	FILE *out = line->style->out;
	const char *sep = line->style->separator;
	double value = line->row->value * line->event->scale;
	stat_put_csv_prefix(line);
	if (line->row->counted)
		fprintf(out, "%.*f", floor(value) != value ? 2 : 0, value);
	else
		fputs(stat_missing_reason(line), out);
	put_cell(line, line->event->unit);
	put_cell(line, line->event->name);
	if (line->event->cgroup)
		put_cell(line, line->event->cgroup);
	if (line->style->repeated)
		fprintf(out, "%s%.2f%%", sep, line->mean ? stat_noise_percent(line->mean) : 0);
	fprintf(out, "%s%llu%s%.2f", sep, (unsigned long long)line->row->running_ns, sep,
		stat_running_percent(line->row));
	put_figure(line, 0);
	fputc('\n', out);
	if (line->derived_count < 2)
		return;
	/* A second metric has its own line, in which all other columns are empty. */
	stat_put_csv_prefix(line);
	fprintf(out, "%s%s%s%s", sep, sep, line->event->cgroup ? sep : "", line->style->repeated ? sep : "");
	fprintf(out, "%s%s", sep, sep);
	put_figure(line, 1);
	fputc('\n', out);
}
