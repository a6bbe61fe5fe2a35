/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON output: an object per line, with the keys of perf stat -j. Additional keys, if known:
 * "interval-low" and "interval-high" (95 % interval of counter-value), and "why" for an event that was
 * not counted.
 */
#include <stdint.h>
#include "json.h"
#include "out/stat_internal.h"

static void put_place(const struct stat_line *line)
{
	FILE *out = line->style->out;
	char name[STAT_PLACE_SIZE];
	if (line->style->aggregate == SP_STAT_GLOBAL)
		return;
	json_put_text(out, stat_place_titles[line->style->aggregate]);
	fputs(" : ", out);
	json_put_text(out, stat_place_name(line, name));
	fputs(", ", out);
	if (stat_has_members(line->style))
		fprintf(out, "\"aggregate-number\" : %u, ", line->row->members);
}

void stat_put_json_prefix(const struct stat_line *line)
{
	FILE *out = line->style->out;
	fputc('{', out);
	if (line->table->has_time)
		fprintf(out, "\"interval\" : %.9f, ", line->table->time_ns / 1e9);
	put_place(line);
}

static void put_figure(const struct stat_line *line, size_t index)
{
	struct stat_figure figure = {0};
	if (index < line->derived_count && line->derived[index].known)
		figure = stat_figure_of(&line->derived[index]);
	fprintf(line->style->out, "\"metric-value\" : %f, \"metric-unit\" : \"%s\"", figure.value,
		figure.unit);
}

void stat_put_json_line(const struct stat_line *line)
{
	FILE *out = line->style->out;
	double low, high;
	stat_put_json_prefix(line);
	if (line->row->counted)
		fprintf(out, "\"counter-value\" : \"%f\", ", line->row->value * line->event->scale);
	else
		fprintf(out, "\"counter-value\" : \"%s\", ", stat_missing_reason(line));
	fputs("\"unit\" : ", out);
	json_put_text(out, line->event->unit);
	fputs(", \"event\" : ", out);
	json_put_text(out, line->event->name);
	if (line->event->cgroup) {
		fputs(", \"cgroup\" : ", out);
		json_put_text(out, line->event->cgroup);
	}
	if (line->style->repeated)
		fprintf(out, ", \"variance\" : %.2f",
			line->mean ? stat_noise_percent(line->mean) : 0);
	fprintf(out, ", \"event-runtime\" : %llu, \"pcnt-running\" : %.2f, ",
		(unsigned long long)line->row->running_ns, stat_running_percent(line->row));
	put_figure(line, 0);
	if (line->row->counted && stat_interval_of(line, &low, &high))
		fprintf(out, ", \"interval-low\" : %f, \"interval-high\" : %f", low, high);
	if (!line->event->supported && line->event->why) {
		fputs(", \"why\" : ", out);
		json_put_text(out, line->event->why);
	}
	fputs("}\n", out);
	if (line->derived_count < 2)
		return;
	stat_put_json_prefix(line);
	put_figure(line, 1);
	fputs("}\n", out);
}
