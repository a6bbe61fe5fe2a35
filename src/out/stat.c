/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/stat.h"

#include <stdlib.h>
#include <string.h>
#include "out/stat_internal.h"

/* Formats are perf's, of version 6.1. */
static const struct {
	const char *format, *unit;
} figures[] = {
	[SP_STAT_CPUS_UTILIZED] = {"%8.3f", "CPUs utilized"},
	[SP_STAT_GHZ] = {"%8.3f", "GHz"},
	[SP_STAT_INSN_PER_CYCLE] = {"%7.2f ", "insn per cycle"},
	[SP_STAT_STALLED_PER_INSN] = {"%7.2f ", "stalled cycles per insn"},
	[SP_STAT_FRONTEND_IDLE] = {"%7.2f%%", "frontend cycles idle"},
	[SP_STAT_BACKEND_IDLE] = {"%7.2f%%", "backend cycles idle"},
	[SP_STAT_BRANCH_MISSES] = {"%7.2f%%", "of all branches"},
	[SP_STAT_CACHE_MISSES] = {"%8.3f %%", "of all cache refs"},
	[SP_STAT_L1D_MISSES] = {"%7.2f%%", "of all L1-dcache accesses"},
	[SP_STAT_L1I_MISSES] = {"%7.2f%%", "of all L1-icache accesses"},
	[SP_STAT_DTLB_MISSES] = {"%7.2f%%", "of all dTLB cache accesses"},
	[SP_STAT_ITLB_MISSES] = {"%7.2f%%", "of all iTLB cache accesses"},
	[SP_STAT_LLC_MISSES] = {"%7.2f%%", "of all LL-cache accesses"},
	[SP_STAT_RATE] = {"%8.3f", "/sec"},
};

/* The widest unit there usually is: "msec". */
#define UNIT_WIDTH 4

/* Thousands of a rate: K, M, G as perf has them. */
static double scale_rate(double rate, char *letter)
{
	static const char letters[] = " KMG";
	unsigned int i = 0;
	for (; rate > 1000 && i < 3; i++)
		rate /= 1000;
	*letter = letters[i];
	return rate;
}

/* A number without what stands around it. */
static void strip(char *text, const char *from)
{
	from += strspn(from, " ");
	size_t size = strspn(from, "0123456789.-");
	memcpy(text, from, size);
	text[size] = '\0';
}

struct stat_figure stat_figure_of(const struct sp_stat_derived *derived)
{
	struct stat_figure figure = {.value = derived->value};
	char letter = ' ';
	if (derived->kind == SP_STAT_RATE)
		figure.value = scale_rate(figure.value, &letter);
	snprintf(figure.unit, sizeof(figure.unit), "%.*s%s", letter != ' ', &letter,
		 figures[derived->kind].unit);
	if (!derived->known)
		return figure;
	/* Formats are the table's own. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(figure.number, sizeof(figure.number), figures[derived->kind].format, figure.value);
#pragma GCC diagnostic pop
	strip(figure.text, figure.number);
	return figure;
}

const char *stat_why_none(const struct stat_line *line)
{
	return line->event->supported ? "<not counted>" : "<not supported>";
}

double stat_noise_percent(const struct sp_stat_mean *mean)
{
	return mean->mean ? 100 * sp_stat_mean_error(mean) / mean->mean : 0;
}

double stat_running_percent(const struct sp_stat_row *row)
{
	return row->enabled_ns ? 100.0 * (double)row->running_ns / (double)row->enabled_ns : 100;
}

bool stat_interval_of(const struct stat_line *line, double *low_ret, double *high_ret)
{
	double scale = line->event->scale;
	if (line->mean && line->mean->count > 1) {
		double half = sp_stat_mean_interval(line->mean);
		double low = line->mean->mean - half;
		*low_ret = scale * (low > 0 ? low : 0);
		*high_ret = scale * (line->mean->mean + half);
		return half > 0;
	}
	*low_ret = scale * line->row->low;
	*high_ret = scale * line->row->high;
	return !line->mean && line->row->interval_known;
}

static void put_line(const struct stat_style *style, const struct stat_table *table, size_t place,
		     size_t event, int unit_width)
{
	size_t at = place * table->event_count + event;
	struct stat_line line = {
		.style = style, .table = table, .event = &table->events[event],
		.place = &table->places[place], .row = &table->rows[at],
		.mean = style->repeated && table->means ? &table->means[at] : NULL,
		.unit_width = unit_width,
	};
	if (style->skip_zero && !(line.row->value > 0))
		return;
	line.derived_count = sp_stat_derive(table->events, &table->rows[place * table->event_count],
					    table->event_count, event, table->elapsed_ns, line.derived);
	if (style->kind == STAT_TEXT)
		stat_put_text_line(&line);
	else if (style->kind == STAT_CSV)
		stat_put_csv_line(&line);
	else
		stat_put_json_line(&line);
}

/* Rows of threads: those that count most come first. */
struct ranked {
	size_t place;
	double value;
};

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->place > y->place) - (x->place < y->place);
}

static void put_ranked(const struct stat_style *style, const struct stat_table *table, size_t event,
		       int unit_width, struct ranked *ranks)
{
	for (size_t p = 0; p < table->place_count; p++)
		ranks[p] = (struct ranked){p, table->rows[p * table->event_count + event].value};
	qsort(ranks, table->place_count, sizeof(*ranks), ranked_compare);
	for (size_t p = 0; p < table->place_count; p++)
		put_line(style, table, ranks[p].place, event, unit_width);
}

void stat_put_table(const struct stat_style *style, const struct stat_table *table)
{
	int unit_width = UNIT_WIDTH;
	if (style->metric_only) {
		stat_put_metrics(style, table);
		return;
	}
	for (size_t i = 0; i < table->event_count; i++)
		if ((int)strlen(table->events[i].unit) > unit_width)
			unit_width = (int)strlen(table->events[i].unit);
	bool by_event = style->aggregate == SP_STAT_CPU || style->aggregate == SP_STAT_THREAD;
	struct ranked *ranks = style->aggregate == SP_STAT_THREAD
				       ? calloc(table->place_count + 1, sizeof(*ranks)) : NULL;
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
