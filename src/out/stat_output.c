/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/stat_output.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "out/stat_internal.h"

/* Width of the widest common unit: "msec". */
#define UNIT_WIDTH 4

static void put_line(const struct stat_style *style, const struct stat_table *table, size_t place,
		     size_t event, int unit_width)
{
	size_t at = place * table->event_count + event;
	struct stat_line line = {
		.style = style, .table = table, .event = table->events[event],
		.place = table->places[place], .row = table->rows[at],
		.mean = style->repeated && table->means ? &table->means[at] : NULL,
		.unit_width = unit_width,
	};
	if (style->skip_zero && !(line.row->value > 0))
		return;
	line.derived_count = sp_stat_derive(table->events,
					    &table->rows[place * table->event_count],
					    table->event_count, event, table->elapsed_ns,
					    line.derived);
	if (style->kind == STAT_TEXT)
		stat_put_text_line(&line);
	else if (style->kind == STAT_CSV)
		stat_put_csv_line(&line);
	else
		stat_put_json_line(&line);
}

/* Position of a thread's row: threads with the greatest counts come first. */
struct ranked_thread {
	size_t place;
	double value;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked_thread *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static void put_ranked(const struct stat_style *style, const struct stat_table *table, size_t event,
		       int unit_width, struct ranked_thread *ranks)
{
	for (size_t p = 0; p < table->place_count; p++)
		ranks[p] = (struct ranked_thread){
			p, table->rows[p * table->event_count + event]->value};
	qsort(ranks, table->place_count, sizeof(*ranks), ranked_compare);
	for (size_t p = 0; p < table->place_count; p++)
		put_line(style, table, ranks[p].place, event, unit_width);
}

/* Writes text without the blanks at the ends of its lines, which pad empty columns. */
static void put_trimmed(const char *text, FILE *out)
{
	while (*text) {
		int length = (int)strcspn(text, "\n"), used = length;
		while (used && text[used - 1] == ' ')
			used--;
		fprintf(out, "%.*s\n", used, text);
		text += length + (text[length] == '\n');
	}
}

/* Calls put(). In text, leaves out the blanks at the ends of its lines. */
static void put_without_padding(const struct stat_style *style, const struct stat_table *table,
				void (*put)(const struct stat_style *style,
					    const struct stat_table *table))
{
	struct stat_style padded = *style;
	char *text = NULL;
	size_t size;
	if (style->kind != STAT_TEXT) {
		put(style, table);
		return;
	}
	padded.out = text_stream_open(&text, &size);
	put(&padded, table);
	text_stream_close(padded.out, &text);
	put_trimmed(text, style->out);
	free(text);
}

static int widest_unit(const struct stat_table *table)
{
	int width = UNIT_WIDTH;
	for (size_t i = 0; i < table->event_count; i++)
		if ((int)strlen(table->events[i]->unit) > width)
			width = (int)strlen(table->events[i]->unit);
	return width;
}

static void put_table(const struct stat_style *style, const struct stat_table *table)
{
	if (style->metric_only) {
		stat_put_metrics(style, table);
		return;
	}
	int unit_width = widest_unit(table);
	bool by_event = style->aggregate == SP_STAT_CPU || style->aggregate == SP_STAT_THREAD;
	struct ranked_thread *ranks = style->aggregate == SP_STAT_THREAD
				       ? xcalloc(table->place_count + 1, sizeof(*ranks)) : NULL;
	size_t outer = by_event ? table->event_count : table->place_count;
	size_t inner = by_event ? table->place_count : table->event_count;
	for (size_t i = 0; i < outer; i++) {
		if (ranks) {
			put_ranked(style, table, i, unit_width, ranks);
			continue;
		}
		for (size_t j = 0; j < inner; j++)
			put_line(style, table, by_event ? j : i, by_event ? i : j, unit_width);
	}
	free(ranks);
}

void stat_put_table(const struct stat_style *style, const struct stat_table *table)
{
	put_without_padding(style, table, put_table);
}

void stat_put_columns(const struct stat_style *style, const struct stat_table *table)
{
	static const char *const titles[] = {
		[SP_STAT_GLOBAL] = "#           time             counts ",
		[SP_STAT_CPU] = "#           time CPU                    counts ",
		[SP_STAT_CORE] = "#           time core            cpus             counts ",
		[SP_STAT_CLUSTER] = "#           time cluster          cpus             counts ",
		[SP_STAT_CACHE] = "#           time cache                cpus             counts ",
		[SP_STAT_DIE] = "#           time die          cpus             counts ",
		[SP_STAT_SOCKET] = "#           time socket cpus             counts ",
		[SP_STAT_NODE] = "#           time node   cpus             counts ",
		[SP_STAT_THREAD] = "#           time             comm-pid                  counts ",
	};
	if (style->metric_only) {
		put_without_padding(style, table, stat_put_metric_columns);
		return;
	}
	fprintf(style->out, "%s%*s events\n", titles[style->aggregate], widest_unit(table), "unit");
}
