/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a comparison for programs: JSON and CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/diff/comparison.h"
#include "json.h"
#include "out/csv_cell.h"

static void put_change(struct json *json, const struct sp_change *change)
{
	json_double(json, "base", change->base);
	json_double(json, "new", change->now);
	json_double(json, "change", change->ratio);
	json_double(json, "change_low", change->low);
	json_double(json, "change_high", change->high);
	json_double(json, "p", change->p);
	json_string(json, "verdict", sp_diff_verdict_name(change->verdict));
	json_double(json, "detectable", change->detectable > 0 ? change->detectable : NAN);
	json_double(json, "runs_needed", change->runs > 0 ? change->runs : NAN);
}

static void put_runs(struct json *json, const struct comparison *comparison, const char *key,
		     enum sp_diff_side side)
{
	json_begin(json, key, '[');
	for (size_t i = 0; i < comparison->run_count; i++)
		if (comparison->runs[i].side == side)
			json_string(json, NULL, comparison->runs[i].path);
	json_end(json, ']');
}

/* Writes the deepest nodes of the call tree that changed. */
static void put_places(struct json *json, const struct comparison *comparison)
{
	json_begin_lines(json, "places", '[');
	for (size_t i = 1; i < sp_diff_node_count(comparison->diff); i++) {
		const struct sp_diff_node *node = sp_diff_node(comparison->diff, i);
		if (!node->is_deepest)
			continue;
		json_begin(json, NULL, '{');
		put_change(json, &node->change);
		json_string(json, "dso", node->dso);
		size_t depth;
		const struct sp_diff_node **path = comparison_path(comparison, i, &depth);
		json_begin(json, "path", '[');
		for (size_t j = 0; j < depth; j++)
			json_string(json, NULL, path[j]->function);
		json_end(json, ']');
		json_end(json, '}');
		free(path);
	}
	json_end_lines(json, ']');
}

void diff_write_json(const struct comparison *comparison, FILE *out)
{
	const struct sp_change *total = sp_diff_total(comparison->diff);
	struct json json = {.out = out};
	json_begin_lines(&json, NULL, '{');
	json_unsigned(&json, "sprof", 1);
	json_string(&json, "verdict", comparison_verdict(comparison));
	json_string(&json, "event", comparison->runs[0].event);
	json_string(&json, "by", comparison->by_share ? "share" : "time");
	json_string(&json, "unit",
		    comparison->by_share  ? "share"
		    : comparison->is_time ? "ns"
					  : "events");
	put_runs(&json, comparison, "base", SP_DIFF_BASE);
	put_runs(&json, comparison, "new", SP_DIFF_NEW);
	json_begin(&json, "total", '{');
	if (!comparison->by_share) {
		put_change(&json, total);
		json_bool(&json, "counted", comparison->is_counted);
	}
	json_end(&json, '}');
	json_begin_lines(&json, "rows", '[');
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		const struct {
			const char *key, *text;
		} texts[] = {{"comm", row->comm},
			     {"dso", row->dso},
			     {"function", row->function},
			     {"srcline", row->srcline}};
		json_begin(&json, NULL, '{');
		put_change(&json, &row->change);
		json_double(&json, "base_samples", row->base_samples);
		json_double(&json, "new_samples", row->now_samples);
		json_bool(&json, "rest", row->is_rest);
		for (size_t j = 0; j < sizeof(texts) / sizeof(*texts); j++)
			json_string(&json, texts[j].key, texts[j].text);
		json_string(&json, "other_name", row->other_name);
		json_string(&json, "moved_with", row->moved_with);
		if (row->moved_with) {
			json_double(&json, "together_base", row->together_base);
			json_double(&json, "together_new", row->together_now);
		}
		json_end(&json, '}');
	}
	json_end_lines(&json, ']');
	put_places(&json, comparison);
	json_begin_lines(&json, "notes", '[');
	for (size_t i = 0; i < comparison->note_count; i++)
		json_string(&json, NULL, comparison->notes[i]);
	json_end_lines(&json, ']');
	json_end_lines(&json, '}');
}

/* Writes a cell and its comma: a number, or nothing if it is not finite. */
static void put_number_cell(double number, FILE *out)
{
	if (isfinite(number))
		fprintf(out, "%.10g", number);
	putc(',', out);
}

void diff_write_csv(const struct comparison *comparison, FILE *out)
{
	fputs("verdict,base,new,change,change_low,change_high,p,base_samples,new_samples,comm,dso,"
	      "function,srcline\n",
	      out);
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		const struct sp_change *change = &row->change;
		const double numbers[] = {change->base,	     change->now,     change->ratio,
					  change->low,	     change->high,    change->p,
					  row->base_samples, row->now_samples};
		const char *function = row->is_rest ? "[rest]" : row->function;
		const char *const texts[] = {row->comm, row->dso, function, row->srcline};
		fprintf(out, "%s,", sp_diff_verdict_name(change->verdict));
		for (size_t j = 0; j < sizeof(numbers) / sizeof(*numbers); j++)
			put_number_cell(numbers[j], out);
		for (size_t j = 0; j < sizeof(texts) / sizeof(*texts); j++) {
			if (texts[j])
				cell_put(texts[j], ",", out);
			putc(j + 1 < sizeof(texts) / sizeof(*texts) ? ',' : '\n', out);
		}
	}
}
