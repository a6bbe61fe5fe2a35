/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of a comparison is a report's page: nodes of its call tree have the weight of both
 * sides. Its head has "comparison" in addition:
 *
 *	verdict, total one word for all, and the total's verdict
 *	unit, scale    of quantities; scale is the unit in those of the tree
 *	lines          the summary, both sides and the total as text has them
 *	base, new      paths of the recordings
 *	rows           verdict, change, interval, base and new of the event's rows, as text has them
 *	tested         nodes with a verdict: index, verdict, change and interval
 *	places         the deepest changes: a sentence, and the names of the path
 *	limits         sentences below the table
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/diff/comparison.h"
#include "cmd/diff/diff_text.h"
#include "html/head.h"
#include "memory.h"

/* Unit of shares in the page's tree. */
#define SHARE_UNITS 1e9

/* Width of sentences: they are one line each. */
#define SENTENCE_WIDTH (1 << 24)

/* A comparison as a report's objects. */
struct compared_page {
	const struct comparison *comparison;
	struct sp_tree_node *nodes; /* by node of the comparison */
	struct sp_row *rows;
	char **names; /* by row */
	size_t name_count;
};

static void compared_page_deinit(struct compared_page *compared)
{
	for (size_t i = 0; i < compared->name_count; i++)
		free(compared->names[i]);
	free(compared->names);
	free(compared->rows);
	free(compared->nodes);
}

static uint64_t units(const struct comparison *comparison, double weight)
{
	double scale = comparison->by_share ? SHARE_UNITS : 1;
	return weight > 0 ? (uint64_t)llround(weight * scale) : 0;
}

/* Makes the objects that head.c reads. */
static void compared_page_init(struct compared_page *compared, const struct comparison *comparison)
{
	const struct sp_diff *diff = comparison->diff;
	size_t rows = sp_diff_row_count(diff), nodes = sp_diff_node_count(diff);
	*compared = (struct compared_page){
		.comparison = comparison,
		.nodes = xcalloc(nodes + 1, sizeof(*compared->nodes)),
		.rows = xcalloc(rows + 1, sizeof(*compared->rows)),
		.names = xcalloc(rows + 1, sizeof(*compared->names)),
		.name_count = rows,
	};
	for (size_t i = 1; i < nodes; i++) {
		const struct sp_diff_node *node = sp_diff_node(diff, i);
		compared->nodes[i] = (struct sp_tree_node){
			.function = node->function,
			.dso = node->dso,
			.level = node->level,
			.own_code = node->own_code,
			.symbol_known = *node->function != '[',
		};
	}
	for (size_t i = 0; i < rows; i++) {
		struct sp_diff_row row = *sp_diff_row(diff, i);
		const char *dso = row.dso;
		/* The file has a column of its own, unless it is all of the name. */
		if (row.is_rest || row.comm || row.function || row.srcline)
			row.dso = NULL;
		compared->names[i] = diff_make_name(comparison, &row, 0, 0);
		compared->rows[i] = (struct sp_row){
			.function = compared->names[i],
			.dso = dso,
			.symbol_known = *compared->names[i] != '[',
			.self = {.samples = units(comparison, row.change.base),
				 .weight = units(comparison, row.change.now)},
		};
	}
}

/* Makes the event's nodes, and a cell for each side. */
static void add_nodes(struct page_event *event, const struct compared_page *compared)
{
	const struct comparison *comparison = compared->comparison;
	size_t count = sp_diff_node_count(comparison->diff);
	for (size_t i = 0; i < count; i++) {
		const struct sp_diff_node *node = sp_diff_node(comparison->diff, i);
		const double own[] = {node->base_self, node->now_self};
		*list_push(&event->nodes) = (struct page_node){
			.node = &compared->nodes[i],
			.parent = (uint32_t)node->parent,
		};
		for (uint32_t side = 0; side < 2; side++)
			if (units(comparison, own[side]))
				*list_push(&event->cells) = (struct page_cell){
					.thread = side,
					.node = (uint32_t)i,
					.weight = units(comparison, own[side]),
				};
	}
	event->two_sides = true;
	event->bins = 1;
	/* Runs are merged one after the other, so that subtrees are divided. */
	page_order_nodes(event);
	page_merge_cells(event);
}

/* -- Values of the head ----------------------------------------------------- */

/* Writes the lines of a text as an array, and frees it. */
static void put_lines(struct head_writing *writing, const char *key, char *text)
{
	char *rest = text, *line;
	json_begin_lines(&writing->json, key, '[');
	while ((line = strsep(&rest, "\n")))
		if (*line)
			head_put_text(writing, NULL, line);
	json_end_lines(&writing->json, ']');
	free(text);
}

static void put_rows(struct json *json, const struct comparison *comparison)
{
	char base[TEXT_SIZE], now[TEXT_SIZE], change[TEXT_SIZE], interval[2 * TEXT_SIZE];
	json_begin_lines(json, "rows", '[');
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_change *of = &sp_diff_row(comparison->diff, i)->change;
		json_begin(json, NULL, '[');
		json_string(json, NULL, format_verdict(of));
		json_string(json, NULL, format_change(comparison, of->ratio, change));
		json_string(json, NULL, format_interval(comparison, of, interval));
		json_string(json, NULL, format_quantity(comparison, of->base, base));
		json_string(json, NULL, format_quantity(comparison, of->now, now));
		json_end(json, ']');
	}
	json_end_lines(json, ']');
}

/* Writes the changes of the page's nodes. */
static void put_tested(struct json *json, const struct page_event *event,
		       const struct compared_page *compared)
{
	const struct comparison *comparison = compared->comparison;
	char change[TEXT_SIZE], interval[2 * TEXT_SIZE];
	json_begin_lines(json, "tested", '[');
	for (size_t i = 1; i < event->nodes.count; i++) {
		const struct sp_tree_node *node = event->nodes.items[i].node;
		size_t number = node ? (size_t)(node - compared->nodes) : 0;
		const struct sp_change *of = &sp_diff_node(comparison->diff, number)->change;
		if (of->verdict == SP_DIFF_UNTESTED)
			continue;
		json_begin(json, NULL, '[');
		json_unsigned(json, NULL, i);
		json_string(json, NULL, format_verdict(of));
		json_string(json, NULL, format_change(comparison, of->ratio, change));
		json_string(json, NULL, format_interval(comparison, of, interval));
		json_end(json, ']');
	}
	json_end_lines(json, ']');
}

/* Writes a sentence and the names of the path for each. */
static void put_places(struct head_writing *writing, const struct comparison *comparison)
{
	struct json *json = &writing->json;
	json_begin_lines(json, "places", '[');
	for (size_t i = 0, place = 0;
	     i < DIFF_PLACES && (place = diff_next_place(comparison, place)); i++) {
		char *text;
		size_t size, depth;
		FILE *stream = text_stream_open(&text, &size);
		diff_put_place(comparison, place, stream);
		text_stream_close(stream, &text);
		const struct sp_diff_node **path = comparison_path(comparison, place, &depth);
		json_begin(json, NULL, '{');
		put_lines(writing, "lines", text);
		json_begin(json, "path", '[');
		for (size_t j = 0; j < depth; j++)
			head_put_text(writing, NULL, path[j]->function);
		json_end(json, ']');
		json_end(json, '}');
		free(path);
	}
	json_end_lines(json, ']');
}

static void put_paths(struct head_writing *writing, const struct comparison *comparison)
{
	static const char *const keys[] = {"base", "new"};
	for (size_t side = 0; side < 2; side++) {
		const struct option_strings *paths = &comparison->arguments->paths[side];
		json_begin_lines(&writing->json, keys[side], '[');
		for (size_t i = 0; i < paths->count; i++)
			head_put_text(writing, NULL, paths->items[i]);
		json_end_lines(&writing->json, ']');
	}
}

static void write_comparison(const struct head *head, struct head_writing *writing)
{
	const struct compared_page *compared = head->page->more;
	const struct comparison *comparison = compared->comparison;
	struct json *json = &writing->json;
	double row_runs = 0;
	char *texts[2];
	size_t size;
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++)
		row_runs = fmax(row_runs,
				diff_runs_needed(&sp_diff_row(comparison->diff, i)->change));
	FILE *lines = text_stream_open(&texts[0], &size);
	diff_put_summary(comparison, lines);
	putc('\n', lines);
	diff_put_side(comparison, SP_DIFF_BASE, lines);
	diff_put_side(comparison, SP_DIFF_NEW, lines);
	diff_put_total(comparison, lines);
	text_stream_close(lines, &texts[0]);
	FILE *limits = text_stream_open(&texts[1], &size);
	diff_put_limits(comparison, row_runs, limits);
	text_stream_close(limits, &texts[1]);
	json_begin_lines(json, "comparison", '{');
	json_string(json, "verdict", comparison_verdict(comparison));
	json_string(json, "total", format_verdict(sp_diff_total(comparison->diff)));
	json_string(json, "unit", diff_unit(comparison));
	json_double(json, "scale", comparison->by_share ? SHARE_UNITS / 100 : 1e6);
	put_lines(writing, "lines", texts[0]);
	put_lines(writing, "limits", texts[1]);
	put_paths(writing, comparison);
	put_rows(json, comparison);
	put_tested(json, &head->page->events[0], compared);
	put_places(writing, comparison);
	json_end_lines(json, '}');
}

void diff_write_html(const struct comparison *comparison, FILE *out)
{
	struct comparison shown = *comparison;
	struct compared_page compared;
	const struct sp_timeline *no_timeline = NULL;
	const struct sp_file_info no_info = {0};
	shown.term = (struct term){.utf8 = true, .width = SENTENCE_WIDTH};
	compared_page_init(&compared, &shown);
	uint64_t base = 0, now = 0;
	for (size_t i = 0; i < sp_diff_node_count(shown.diff); i++) {
		base += units(&shown, sp_diff_node(shown.diff, i)->base_self);
		now += units(&shown, sp_diff_node(shown.diff, i)->now_self);
	}
	const struct sp_profile profile = {
		.event = shown.runs[0].event,
		.weight_is_time = shown.is_time && !shown.by_share,
		.samples = base,
		.weight = now,
		.shown_samples = base,
		.shown_weight = now,
		.rows = compared.rows,
		.row_count = sp_diff_row_count(shown.diff),
	};
	const struct sp_profile *const profiles[] = {&profile};
	const struct report report = {
		.path = shown.runs[0].path,
		.recording_count = shown.run_count,
		.info = &no_info,
		.profiles = profiles,
		.profile_count = 1,
		.timelines = &no_timeline,
		.mode = SP_MODE_CPU,
	};
	struct page page;
	page_init(&page, &report);
	add_nodes(&page.events[0], &compared);
	page.write_more = write_comparison;
	page.more = &compared;
	page_write(&page, out);
	page_deinit(&page);
	compared_page_deinit(&compared);
}
