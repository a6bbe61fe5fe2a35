/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of --metric-only: one line for each place, with derived metrics in place of counts. Formats
 * and widths are perf's; rates are omitted.
 */
#include <string.h>
#include "json.h"
#include "out/csv_cell.h"
#include "out/stat_internal.h"

#define COLUMN_WIDTH 20

/* Maximum size of a title such as "branch-misses of all branches". */
#define TITLE_SIZE 160

static bool is_shown(const struct sp_stat_derived *derived)
{
	return derived->kind != SP_STAT_CPUS_UTILIZED && derived->kind != SP_STAT_GHZ &&
	       derived->kind != SP_STAT_RATE;
}

static const char *title_of(const struct stat_line *line, const struct stat_figure *figure,
			    char title[TITLE_SIZE])
{
	bool part = !strncmp(figure->unit, "of all", 6);
	snprintf(title, TITLE_SIZE, "%s%s%s", part ? line->event->name : "", part ? " " : "",
		 figure->unit);
	return title;
}

static int width_of(const char *title)
{
	return strlen(title) > COLUMN_WIDTH ? (int)strlen(title) : COLUMN_WIDTH;
}

/* Writes one metric, or with `titles` its title. *first: no comma is needed in JSON. */
static void put_figure(const struct stat_line *line, size_t index, bool titles, bool *first)
{
	FILE *out = line->style->out;
	struct stat_figure figure = stat_figure_of(&line->derived[index]);
	char title[TITLE_SIZE];
	title_of(line, &figure, title);
	if (line->style->kind == STAT_CSV) {
		if (titles)
			cell_put(title, line->style->separator, out);
		else
			fputs(figure.text, out);
		fputs(line->style->separator, out);
	} else if (line->style->kind == STAT_TEXT) {
		stat_put_name(out, titles ? title : figure.number, width_of(title));
		putc(' ', out);
	} else if (*figure.text) {
		fputs(*first ? "" : ", ", out);
		json_put_text(out, title);
		fprintf(out, " : \"%s\"", figure.text);
	}
	*first = false;
}

/* Writes a place's metrics, or their titles. Returns false if it has none. */
static bool put_figures(const struct stat_style *style, const struct stat_table *table, size_t place,
			bool titles)
{
	bool first = true;
	const struct sp_stat_row *const *rows = &table->rows[place * table->event_count];
	for (size_t i = 0; i < table->event_count; i++) {
		struct stat_line line = {.style = style, .table = table, .event = table->events[i],
					 .place = table->places[place], .row = rows[i]};
		line.derived_count = sp_stat_derive(table->events, rows, table->event_count, i,
						    table->elapsed_ns, line.derived);
		for (size_t j = 0; j < line.derived_count; j++)
			if (is_shown(&line.derived[j]))
				put_figure(&line, j, titles, &first);
	}
	return !first;
}

static void put_prefix(const struct stat_style *style, const struct stat_table *table, size_t place)
{
	const struct stat_line line = {.style = style, .table = table, .event = table->events[0],
				       .place = table->places[place],
				       .row = table->rows[place * table->event_count]};
	if (style->kind == STAT_TEXT)
		stat_put_text_prefix(&line);
	else if (style->kind == STAT_CSV)
		stat_put_csv_prefix(&line);
	else
		stat_put_json_prefix(&line);
}

/* Returns the width of the columns before the metrics, measured by writing them to memory. */
static int prefix_width(const struct stat_style *style, const struct stat_table *table)
{
	char text[256] = "";
	struct stat_style measured = *style;
	measured.out = fmemopen(text, sizeof(text), "w");
	if (!measured.out)
		return 0;
	put_prefix(&measured, table, 0);
	fclose(measured.out);
	return (int)strlen(text);
}

/* Writes the titles of the columns that stat_put_csv_prefix() writes. */
static void put_csv_titles(const struct stat_style *style, bool has_time)
{
	enum sp_stat_aggregate kind = style->aggregate;
	const char *sep = style->separator;
	if (has_time)
		fprintf(style->out, "time%s", sep);
	if (kind != SP_STAT_GLOBAL)
		fprintf(style->out, "%s%s",
			kind == SP_STAT_THREAD ? "comm-pid" : stat_place_titles[kind], sep);
	if (stat_has_members(style))
		fprintf(style->out, "cpus%s", sep);
}

void stat_put_metric_columns(const struct stat_style *style, const struct stat_table *table)
{
	if (style->kind == STAT_JSON || !table->place_count || !table->event_count)
		return;
	if (style->kind == STAT_TEXT)
		fprintf(style->out, "%-*s", prefix_width(style, table),
			table->has_time ? "#           time" : "");
	else
		put_csv_titles(style, table->has_time);
	put_figures(style, table, 0, true);
	fputc('\n', style->out);
}

bool stat_has_metrics(const struct stat_table *table)
{
	for (size_t i = 0; i < table->event_count * table->place_count; i++) {
		size_t place = i / table->event_count;
		struct sp_stat_derived derived[2];
		size_t count = sp_stat_derive(table->events, &table->rows[place * table->event_count],
					      table->event_count, i % table->event_count,
					      table->elapsed_ns, derived);
		for (size_t j = 0; j < count; j++)
			if (is_shown(&derived[j]) && derived[j].known)
				return true;
	}
	return false;
}

void stat_put_metrics(const struct stat_style *style, const struct stat_table *table)
{
	for (size_t place = 0; place < table->place_count && table->event_count; place++) {
		put_prefix(style, table, place);
		bool any = put_figures(style, table, place, false);
		if (style->kind == STAT_JSON)
			fputs(any ? "}" : "\"metric-value\" : \"none\"}", style->out);
		fputc('\n', style->out);
	}
}
