/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CSV output of rows, as in RFC 4180 except for the line ends, after a header line. Columns have the
 * names and order of the JSON output's row members. Columns of totals are always present, and empty if
 * totals are unknown. If there are several events, a column has the event's name.
 *
 * The last columns are between-run intervals, if they are known; in modes of time, times by state.
 *
 * Each event group has its own table: numeric columns for each event are named EVENT.NUMBER, followed
 * by those of ratios, then the keys.
 */
#include <inttypes.h>
#include <string.h>
#include "out/csv_cell.h"
#include "out/output.h"
#include "out/thread_times.h"

static bool has_events(const struct report *report)
{
	return report->profile_count > 1 || report_has_key(report, SP_KEY_EVENT);
}

/* Keys and options of the table, which all its rows share. */
struct columns {
	const struct report *report;
	enum sp_key keys[SP_KEY_LIMIT];
	size_t count;
	bool build_id, events;
	bool between; /* rows have between-run intervals */
};

static void put_name(const char *name, FILE *out)
{
	putc(',', out);
	if (name)
		cell_put(name, ",", out);
}

static void put_key_names(const struct columns *columns, FILE *out)
{
	for (size_t i = 0; i < columns->count; i++)
		put_name(report_key_name(columns->report, columns->keys[i]), out);
	if (columns->build_id)
		fputs(",build_id", out);
	if (columns->events)
		fputs(",event", out);
	if (columns->report->mode != SP_MODE_CPU)
		times_write_csv_titles(out);
	if (columns->between)
		fputs(",self_between_low,self_between_high,total_between_low,total_between_high",
		      out);
	putc('\n', out);
}

static void put_header(const struct columns *columns, FILE *out)
{
	fputs("self,self_low,self_high,self_samples,self_weight,"
	      "total,total_low,total_high,total_samples,total_weight", out);
	put_key_names(columns, out);
}

static void put_weight(const struct sp_weight *weight, FILE *out)
{
	fprintf(out, "%.10g,%.10g,%.10g,%" PRIu64 ",%" PRIu64, weight->share.value,
		weight->share.low, weight->share.high, weight->samples, weight->weight);
}

static void put_key(const struct sp_row *row, enum sp_key key, FILE *out)
{
	int64_t number;
	if (!sp_key_is_number(key)) {
		put_name(row_text(row, key), out);
		return;
	}
	putc(',', out);
	if (row_number(row, key, &number))
		fprintf(out, "%" PRId64, number);
}

static void put_keys(const struct columns *columns, const struct sp_row *row, const char *event,
		     FILE *out)
{
	for (size_t i = 0; i < columns->count; i++)
		put_key(row, columns->keys[i], out);
	if (columns->build_id)
		put_name(row->build_id, out);
	if (columns->events)
		put_name(event, out);
}

static void put_weights(const struct sp_weight *self, const struct sp_weight *total, FILE *out)
{
	put_weight(self, out);
	putc(',', out);
	if (total)
		put_weight(total, out);
	else
		fputs(",,,,", out);
}

static void put_between(const struct sp_between *between, FILE *out)
{
	if (between)
		fprintf(out, ",%.10g,%.10g", between->low, between->high);
	else
		fputs(",,", out);
}

static void put_row(const struct columns *columns, const struct sp_profile *profile, bool totals,
		    const struct sp_row *row, FILE *out)
{
	put_weights(&row->self, totals ? &row->total : NULL, out);
	put_keys(columns, row, profile->event, out);
	if (row->self_times)
		times_write_csv(row->self_times, totals ? row->total_times : NULL, out);
	if (columns->between) {
		put_between(row->self_between, out);
		put_between(totals ? row->total_between : NULL, out);
	}
	putc('\n', out);
}

/* Writes a column's title "EVENT.NUMBER", quoted because event names may contain commas. */
static void put_event_column(const char *event, const char *number, FILE *out)
{
	char title[512];
	snprintf(title, sizeof(title), "%s.%s", event, number);
	cell_put(title, ",", out);
}

static void put_group_header(const struct columns *columns, const struct joint_view *view,
			     FILE *out)
{
	static const char *const numbers[] = {
		"self", "self_low", "self_high", "self_samples", "self_weight",
		"total", "total_low", "total_high", "total_samples", "total_weight",
	};
	for (size_t i = 0; i < view->group->profile_count; i++)
		for (size_t j = 0; j < sizeof(numbers) / sizeof(*numbers); j++) {
			if (i || j)
				putc(',', out);
			put_event_column(view->profiles[i]->event, numbers[j], out);
		}
	for (size_t i = 0; i < view->group->ratio_count; i++) {
		const char *name = sp_group_ratio(view->group, i)->name;
		fprintf(out, ",%s,%s_low,%s_high,total_%s,total_%s_low,total_%s_high", name, name, name,
			name, name, name);
	}
	put_key_names(columns, out);
}

static void put_ratio(const struct sp_ratio *ratio, FILE *out)
{
	putc(',', out);
	if (ratio && ratio->known)
		fprintf(out, "%.10g", ratio->value);
	if (ratio && ratio->bounded)
		fprintf(out, ",%.10g,%.10g", ratio->low, ratio->high);
	else
		fputs(",,", out);
}

static void put_joint_row(const struct columns *columns, const struct joint_view *view, bool totals,
			  const struct sp_joint_row *row, FILE *out)
{
	for (size_t i = 0; i < view->group->profile_count; i++) {
		if (i)
			putc(',', out);
		put_weights(&row->self[i], totals ? &row->total[i] : NULL, out);
	}
	for (size_t i = 0; i < view->group->ratio_count; i++) {
		put_ratio(&row->ratios[i], out);
		put_ratio(totals ? &row->total_ratios[i] : NULL, out);
	}
	put_keys(columns, row->row, "", out);
	putc('\n', out);
}

static void put_group(const struct report *report, const struct columns *columns,
		      const struct joint_view *view, FILE *out)
{
	bool totals = report_has_totals(report, view->profiles[0]);
	size_t left = report->row_most ?: SIZE_MAX;
	put_group_header(columns, view, out);
	for (size_t i = 0; i < view->group->row_count && left; i++) {
		const struct sp_joint_row *row = sp_group_row(view->group, i);
		if (!report_shows(report, view->group, row))
			continue;
		put_joint_row(columns, view, totals, row, out);
		left--;
	}
}

static bool write_csv(const struct report *report, FILE *out)
{
	struct columns columns = {.report = report,
				  .build_id = report_has_key(report, SP_KEY_DSO),
				  .events = has_events(report)};
	columns.count = report_ordered_keys(report, columns.keys);
	for (size_t i = 0; i < report->profile_count; i++)
		columns.between |= report->profiles[i]->row_count &&
				   sp_profile_row(report->profiles[i], 0)->self_between;
	struct columns joint = columns;
	joint.events = false;
	joint.between = false;
	for (size_t i = 0; i < report->group_count; i++)
		put_group(report, &joint, &report->groups[i], out);
	bool head = report->group_count > 0; /* the groups' tables come first, so the header for the other
					      * rows follows them */
	if (!head)
		put_header(&columns, out);
	for (size_t i = 0; i < report->profile_count; i++) {
		const struct sp_profile *profile = report->profiles[i];
		if (report_is_grouped(report, profile))
			continue;
		if (head)
			put_header(&columns, out);
		head = false;
		size_t count = report_row_count(report, profile);
		bool totals = report_has_totals(report, profile);
		for (size_t j = 0; j < count; j++)
			put_row(&columns, profile, totals, sp_profile_row(profile, j), out);
	}
	return true;
}

const struct output_format output_csv = {
	.name = "csv",
	.intervals = true,
	.files = (const char *const[]){"*.csv", NULL},
	.write = write_csv,
};
