/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a comparison for people: text and Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/diff/comparison.h"
#include "cmd/diff/diff_text.h"
#include "input.h"
#include "memory.h"
#include "out/format_value.h"
#include "text.h"

/* Rows without a change in text without --all, and the share of either side from which they are
 * shown. */
#define OTHER_ROWS 8
#define OTHER_SHARE 0.02

/* Last functions of a path that is shown, and characters of a name. */
#define PATH_MOST 4
#define NAME_MOST 40

/* Limits of Markdown, which hosts of code truncate at 64 KB: rows, and characters of a name. */
#define MARKDOWN_ROWS 100
#define MARKDOWN_NAME 160

const char *format_change(const struct comparison *comparison, double ratio, char text[TEXT_SIZE])
{
	if (!isfinite(ratio) || ratio <= -1)
		return term_glyph(&comparison->term, "–", "-");
	if (ratio >= 2)
		snprintf(text, TEXT_SIZE, "%s%.*f", term_glyph(&comparison->term, "×", "x"),
			 ratio < 9 ? 1 : 0, fmin(ratio + 1, 999999));
	else
		snprintf(text, TEXT_SIZE, "%+.*f%%", fabs(ratio) < 0.9995 ? 1 : 0, 100 * ratio);
	return text;
}

const char *format_interval(const struct comparison *comparison, const struct sp_change *change,
			    char text[2 * TEXT_SIZE])
{
	char low[TEXT_SIZE], high[TEXT_SIZE];
	if (!isfinite(change->ratio) || change->ratio <= -1 || !isfinite(change->high))
		return "";
	const char *from = format_change(comparison, change->low, low);
	const char *to = format_change(comparison, change->high, high);
	size_t size = strlen(from);
	bool both = size && from[size - 1] == '%' && to[strlen(to) - 1] == '%';
	snprintf(text, 2 * TEXT_SIZE, "%.*s to %s", (int)(size - both), from, to);
	return text;
}

const char *format_quantity(const struct comparison *comparison, double quantity,
			    char text[TEXT_SIZE])
{
	double shown = comparison->by_share ? 100 * quantity : quantity / 1e6;
	if (!(quantity > 0))
		return term_glyph(&comparison->term, "–", "-");
	snprintf(text, TEXT_SIZE, "%.*f%s",
		 shown < 10	? 2
		 : shown < 1000 ? 1
				: 0,
		 shown, comparison->by_share ? "%" : "");
	return text;
}

const char *diff_unit(const struct comparison *comparison)
{
	return comparison->by_share ? "share" : comparison->is_time ? "ms" : "M";
}

const char *format_verdict(const struct sp_change *change)
{
	return change->verdict == SP_DIFF_UNTESTED     ? "" :
	       change->verdict == SP_DIFF_INCONCLUSIVE ? "?" :
							 sp_diff_verdict_name(change->verdict);
}

/* Returns whether the row is shown; *others counts those without a change. */
static bool is_shown(const struct comparison *comparison, const struct sp_diff_row *row,
		     size_t *others)
{
	const struct sp_change *total = sp_diff_total(comparison->diff);
	double base = comparison->by_share ? 1 : total->base,
	       now = comparison->by_share ? 1 : total->now;
	if (comparison->arguments->all || row->change.verdict >= SP_DIFF_SLOWER)
		return true;
	if (row->is_rest ||
	    (row->change.base < OTHER_SHARE * base && row->change.now < OTHER_SHARE * now))
		return false;
	return (*others)++ < OTHER_ROWS;
}

char *diff_make_name(const struct comparison *comparison, const struct sp_diff_row *row, int width,
		     int column)
{
	const char *function = row->is_rest ? "(lighter rows together)" : row->function;
	char *name, *made = NULL;
	int rest = width;
	if (rest && row->dso)
		rest -= term_text_width(&comparison->term, row->dso) + 2;
	if (function)
		function =
			name_shorten(&comparison->term, function, rest > 20 ? rest : width, &made);
	const char *parts[] = {row->comm, function, row->srcline, row->dso};
	size_t size = 1 + (size_t)column;
	for (size_t i = 0; i < 4; i++)
		size += parts[i] ? strlen(parts[i]) + 2 : 0;
	name = xcalloc(size, 1);
	for (size_t i = 0; i < 4; i++) {
		if (!parts[i])
			continue;
		if (*name)
			strcat(name, "  ");
		for (int pad = column - term_text_width(&comparison->term, name);
		     i == 3 && *name && pad > 0; pad--)
			strcat(name, " ");
		strcat(name, parts[i]);
	}
	free(made);
	return name;
}

static void put_right(const struct comparison *comparison, const char *text, int width, FILE *out)
{
	term_pad(width - term_text_width(&comparison->term, text), out);
	term_put(&comparison->term, text, 0, out);
}

static enum term_style style_of(enum sp_diff_verdict verdict)
{
	if (verdict == SP_DIFF_SLOWER || verdict == SP_DIFF_APPEARED)
		return TERM_HOT;
	return verdict == SP_DIFF_FASTER || verdict == SP_DIFF_GONE ? TERM_WARM : TERM_PLAIN;
}

/* Widths of the columns before the name; two blanks are between columns. */
enum { VERDICT_WIDTH = 8, QUANTITY_WIDTH = 8, CHANGE_WIDTH = 7, INTERVAL_WIDTH = 16 };

/* Returns `text`: the titles of the keys, in the order of diff_make_name(); dso at `column`. */
static const char *key_titles(const struct comparison *comparison, int column,
			      char text[2 * TEXT_SIZE])
{
	static const enum sp_key order[] = {SP_KEY_COMM,    SP_KEY_SYMBOL,  SP_KEY_FUNCTION,
					    SP_KEY_SRCFILE, SP_KEY_SRCLINE, SP_KEY_DSO};
	char *end = text;
	*text = 0;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		for (size_t j = 0; j < comparison->arguments->key_count; j++) {
			int gap = end > text ? 2 : 0, far = column - (int)(end - text);
			if (comparison->arguments->keys[j] != order[i])
				continue;
			if (order[i] == SP_KEY_DSO && gap && far > gap && column < TEXT_SIZE)
				gap = far;
			end += sprintf(end, "%*s%s", gap, "", sp_key_name(order[i]));
		}
	return text;
}

/* Returns the width for names; 0: no limit. */
static int name_width(const struct comparison *comparison)
{
	int used = 2 * QUANTITY_WIDTH + CHANGE_WIDTH + INTERVAL_WIDTH + 7 +
		   (comparison_is_tested(comparison) ? VERDICT_WIDTH + 2 : 0);
	return comparison->term.width > used + 12 ? comparison->term.width - used : 0;
}

/* Returns the column of files in the names of all shown rows. */
static int file_column(const struct comparison *comparison)
{
	int column = 0;
	size_t others = 0;
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		struct sp_diff_row row = *sp_diff_row(comparison->diff, i);
		if (!is_shown(comparison, &row, &others) || !row.dso)
			continue;
		char *name = diff_make_name(comparison, &row, name_width(comparison), 0);
		int width = name ? term_text_width(&comparison->term, name) -
					   term_text_width(&comparison->term, row.dso) : 0;
		column = width > column ? width : column;
		free(name);
	}
	return column;
}

static void put_row(const struct comparison *comparison, const struct sp_diff_row *row, int column,
		    FILE *out)
{
	char text[2 * TEXT_SIZE];
	const struct sp_change *change = &row->change;
	bool tested = comparison_is_tested(comparison);
	int width = name_width(comparison);
	if (tested) {
		const char *verdict = format_verdict(change);
		term_begin(&comparison->term, style_of(change->verdict), out);
		fputs(verdict, out);
		term_end(&comparison->term, style_of(change->verdict), out);
		term_pad(VERDICT_WIDTH + 2 - (int)strlen(verdict), out);
	}
	put_right(comparison, format_quantity(comparison, change->base, text), QUANTITY_WIDTH, out);
	put_right(comparison, format_quantity(comparison, change->now, text), QUANTITY_WIDTH + 1,
		  out);
	put_right(comparison, format_change(comparison, change->ratio, text), CHANGE_WIDTH + 2,
		  out);
	put_right(comparison, format_interval(comparison, change, text), INTERVAL_WIDTH + 2, out);
	fputs("  ", out);
	/* Wide names move it where files fit. */
	if (width && row->dso && column > width - term_text_width(&comparison->term, row->dso))
		column = width - term_text_width(&comparison->term, row->dso);
	char *name = diff_make_name(comparison, row, width, column > 0 ? column : 0);
	term_put(&comparison->term, name, width, out);
	free(name);
	putc('\n', out);
}

static const char *unit_words(const struct comparison *comparison)
{
	if (!comparison->is_time)
		return "million events";
	bool is_cpu = comparison->arguments->mode == SP_MODE_CPU &&
		      !event_is_of_switches(comparison->runs[0].event);
	return is_cpu ? "ms of CPU time" : "ms";
}

void diff_put_side(const struct comparison *comparison, enum sp_diff_side side, FILE *out)
{
	const struct sp_change *total = sp_diff_total(comparison->diff);
	const char *command = NULL, *path = NULL;
	size_t count = comparison_runs(comparison, side);
	char text[TEXT_SIZE];
	bool same = true;
	for (size_t i = 0; i < comparison->run_count; i++) {
		const struct diff_run *run = &comparison->runs[i];
		if (run->side != side)
			continue;
		same &= !path || (command && run->command && !strcmp(command, run->command));
		command = path ? command : run->command;
		path = path ? path : run->path;
	}
	fprintf(out, "%s  %zu run%s of ", side == SP_DIFF_BASE ? "base " : "new  ", count,
		count == 1 ? "" : "s");
	term_put(&comparison->term, same && command ? command : path, 44, out);
	if (comparison->arguments->time_texts[side])
		fprintf(out, ", %s of the time", comparison->arguments->time_texts[side]);
	if (!comparison->by_share)
		fprintf(out, ", %s %s a run%s",
			format_quantity(comparison, side == SP_DIFF_BASE ? total->base : total->now,
					text),
			unit_words(comparison), comparison->is_counted ? ", counted" : "");
	putc('\n', out);
}

void diff_put_total(const struct comparison *comparison, FILE *out)
{
	const struct sp_change *total = sp_diff_total(comparison->diff);
	char change[TEXT_SIZE], interval[2 * TEXT_SIZE];
	if (comparison->by_share)
		return;
	const char *range = format_interval(comparison, total, interval);
	const char *verdict = format_verdict(total);
	fprintf(out, "total  %s", format_change(comparison, total->ratio, change));
	if (*range)
		fprintf(out, "  (%s)", range);
	fprintf(out, "%s%s\n", *verdict ? "  " : "", verdict);
}

static void put_sentence(const struct comparison *comparison, const char *text, FILE *out)
{
	term_wrap(&comparison->term, text, 0, 0, 0, out);
}

/* Orders nodes by their differences, and equal ones by their place in the tree. */
static bool is_larger(const struct sp_diff_node *a, const struct sp_diff_node *b)
{
	double of_a = fabs(a->now - a->base), of_b = fabs(b->now - b->base);
	return of_a != of_b ? of_a > of_b : a < b;
}

void diff_put_place(const struct comparison *comparison, size_t index, FILE *out)
{
	const struct sp_diff_node *node = sp_diff_node(comparison->diff, index);
	char base[TEXT_SIZE], now[TEXT_SIZE], *text;
	size_t depth, size;
	const struct sp_diff_node **path = comparison_path(comparison, index, &depth);
	FILE *stream = text_stream_open(&text, &size);
	for (size_t i = 0; i < depth; i++) {
		char *made = NULL;
		bool left_out = i && i + PATH_MOST < depth;
		if (!left_out)
			fprintf(stream, "%s%s", i ? " > " : "",
				name_shorten(&comparison->term, path[i]->function, NAME_MOST,
					     &made));
		else if (i == 1)
			fprintf(stream, " > %s", term_glyph(&comparison->term, "…", "..."));
		free(made);
	}
	fprintf(stream, ": %s, now %s %s in total", format_quantity(comparison, node->base, base),
		format_quantity(comparison, node->now, now),
		comparison->by_share ? "of all" : diff_unit(comparison));
	text_stream_close(stream, &text);
	int column = fprintf(out, "found %s below ", sp_diff_verdict_name(node->change.verdict));
	term_wrap(&comparison->term, text, column, 2, 0, out);
	free(text);
	free(path);
}

size_t diff_next_place(const struct comparison *comparison, size_t last)
{
	const struct sp_diff_node *before = last ? sp_diff_node(comparison->diff, last) : NULL;
	size_t most = 0;
	for (size_t i = 1; i < sp_diff_node_count(comparison->diff); i++) {
		const struct sp_diff_node *node = sp_diff_node(comparison->diff, i);
		if (node->is_deepest && (!before || is_larger(before, node)) &&
		    (!most || is_larger(node, sp_diff_node(comparison->diff, most))))
			most = i;
	}
	return most;
}

/* Writes pairs of functions that may be one with two names. */
static void put_renames(const struct comparison *comparison, FILE *out)
{
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		char *gone = NULL, *now = NULL;
		if (!row->other_name || row->change.verdict != SP_DIFF_APPEARED)
			continue;
		const char *from =
			name_shorten(&comparison->term, row->other_name, NAME_MOST, &gone);
		const char *to = name_shorten(&comparison->term, row->function, NAME_MOST, &now);
		char *text = xasprintf(
			"%s (gone) and %s (new) may be one function under two names: they "
			"take about the same time, and their names or calls are alike.",
			from, to);
		put_sentence(comparison, text, out);
		free(text);
		free(gone);
		free(now);
	}
}

/* Most sentences on moved time. */
#define MOVED_MOST 5

/* Writes with which functions the time of rows was exchanged. */
static void put_moved(const struct comparison *comparison, FILE *out)
{
	const struct sp_diff_row *last = NULL;
	char base[TEXT_SIZE], now[TEXT_SIZE];
	for (size_t i = 0, count = 0;
	     i < sp_diff_row_count(comparison->diff) && count < MOVED_MOST; i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		char *name = NULL, *other = NULL;
		if (row->change.verdict != SP_DIFF_MOVED ||
		    (last && !strcmp(row->moved_with, last->function) &&
		     !strcmp(last->moved_with, row->function)))
			continue;
		const char *from = name_shorten(&comparison->term, row->function, NAME_MOST, &name);
		const char *to =
			name_shorten(&comparison->term, row->moved_with, NAME_MOST, &other);
		char more[TEXT_SIZE] = "";
		if (row->moved_others)
			snprintf(more, sizeof(more), " and %zu more", row->moved_others);
		char *text = xasprintf(
			"moved: %s and %s%s changed in turn. Together they took %s, now %s %s: the "
			"builds inline code differently, or differ in its debug information.",
			from, to, more, format_quantity(comparison, row->together_base, base),
			format_quantity(comparison, row->together_now, now),
			comparison->by_share ? "of all" : diff_unit(comparison));
		put_sentence(comparison, text, out);
		free(text);
		free(name);
		free(other);
		last = row;
		count++;
	}
}

/* Returns the first run of a side if all have its command; NULL: they differ, or are unknown. */
static const struct diff_run *common_run(const struct comparison *comparison,
					 enum sp_diff_side side)
{
	const struct diff_run *first = NULL;
	for (size_t i = 0; i < comparison->run_count; i++) {
		const struct diff_run *run = &comparison->runs[i];
		if (run->side != side)
			continue;
		first = first ? first : run;
		if (!run->again || strcmp(run->again, first->again) != 0)
			return NULL;
	}
	return first;
}

/* Most runs of `record --repeat`, and most that are advised: more would take too long. */
#define RUNS_MOST 1000
#define ADVISED_MOST 100

/* Returns whether a terminal can have the text as it is. */
static bool is_safe(const char *text)
{
	uint32_t code;
	while ((code = text_next(&text)) && code != TEXT_INVALID && !text_is_control(code))
		;
	return !code;
}

/*
 * Writes the command that records this number of runs of each side, to a new folder: adding runs
 * until a change is found would find some where there is none. Writes nothing if it is not known,
 * or if the recordings' words have control characters.
 */
static void put_command(const struct comparison *comparison, double runs, FILE *out)
{
	const struct diff_run *base = common_run(comparison, SP_DIFF_BASE);
	const struct diff_run *now = common_run(comparison, SP_DIFF_NEW);
	/* A single word would get the base's arguments. */
	bool bare = base && now && !strchr(now->again, ' ') && strchr(base->again, ' ');
	char *again = base && now ? xasprintf("%s%s", bare ? "env " : "", now->again) : NULL;
	char *versus = again ? text_append_word(xstrdup(""), again) : NULL;
	if (versus && runs <= ADVISED_MOST && is_safe(versus) && is_safe(base->again) &&
	    is_safe(base->options ?: ""))
		fprintf(out,
			"  sprof record --repeat %.0f -o sprof.runs-%.0f%s%s --versus %s -- %s\n",
			runs, runs, base->options && *base->options ? " " : "",
			base->options ? base->options : "", versus, base->again);
	free(versus);
	free(again);
}

/* Writes "56 runs" or "over 1000 runs". */
static const char *format_runs(double runs, char text[TEXT_SIZE])
{
	snprintf(text, TEXT_SIZE, "%s%.0f runs", runs > RUNS_MOST ? "over " : "",
		 fmin(runs, RUNS_MOST));
	return text;
}

double diff_runs_needed(const struct sp_change *change)
{
	return change->verdict == SP_DIFF_INCONCLUSIVE ? change->runs : 0;
}

/* Writes how many runs would decide, and the command that records them. */
static void put_forecast(const struct comparison *comparison, double row_runs, FILE *out)
{
	char total[TEXT_SIZE], rows[TEXT_SIZE];
	double total_runs = diff_runs_needed(sp_diff_total(comparison->diff));
	bool both = total_runs > 0 && row_runs > 0;
	double runs = total_runs > 0 ? total_runs : row_runs;
	if (!(runs > 0))
		return;
	format_runs(row_runs, rows);
	char *text = xasprintf("?: inconclusive. The %s needs %s of each side%s%s.",
			       total_runs > 0 ? "total" : "least certain row",
			       total_runs > 0 ? format_runs(total_runs, total) : rows,
			       both ? ", the least certain row " : "", both ? rows : "");
	put_sentence(comparison, text, out);
	put_sentence(comparison,
		     "With them, 9 of 10 comparisons find a change or exclude one of 10 %, if runs "
		     "differ as much as these.",
		     out);
	free(text);
	if (runs > ADVISED_MOST)
		put_sentence(comparison,
			     "Fewer suffice if runs are longer, or differ less on an idle machine.",
			     out);
	put_command(comparison, runs, out);
}

void diff_put_limits(const struct comparison *comparison, double row_runs, FILE *out)
{
	put_moved(comparison, out);
	put_renames(comparison, out);
	if (comparison_is_tested(comparison)) {
		put_forecast(comparison, row_runs, out);
		put_sentence(
			comparison,
			"Another order of the same code in memory can change single functions by "
			"several percent.",
			out);
	} else if (comparison->arguments->time_texts[SP_DIFF_BASE]) {
		put_sentence(comparison,
			     "No verdicts on parts of the time. Intervals are of sampling.", out);
	} else {
		put_sentence(comparison,
			     "No verdicts: they need 3 runs of each side, recorded in turns, as "
			     "'sprof record --repeat 5 --versus NEW OLD' records them. Intervals "
			     "are of sampling if each side has one run.",
			     out);
		put_command(comparison, 5, out);
	}
	for (size_t i = 0; i < comparison->note_count; i++) {
		fputs("Note: ", out);
		term_wrap(&comparison->term, comparison->notes[i], 6, 2, 0, out);
	}
}

void diff_write_text(const struct comparison *comparison, FILE *out)
{
	size_t others = 0, left_out = 0;
	bool tested = comparison_is_tested(comparison);
	double row_runs = 0;
	int column = file_column(comparison);
	char base[TEXT_SIZE], now[TEXT_SIZE], titles[2 * TEXT_SIZE];
	if (!comparison->arguments->selection.quiet) {
		diff_put_side(comparison, SP_DIFF_BASE, out);
		diff_put_side(comparison, SP_DIFF_NEW, out);
		diff_put_total(comparison, out);
		putc('\n', out);
	}
	snprintf(base, sizeof(base), "base %s", comparison->by_share ? "" : diff_unit(comparison));
	snprintf(now, sizeof(now), "new %s", comparison->by_share ? "" : diff_unit(comparison));
	term_begin(&comparison->term, TERM_TITLE, out);
	fprintf(out, "%s%*s%*s%*s%*s  %s", tested ? "verdict   " : "", QUANTITY_WIDTH, base,
		QUANTITY_WIDTH + 1, now, CHANGE_WIDTH + 2, "change", INTERVAL_WIDTH + 2,
		"95% interval", key_titles(comparison, column, titles));
	term_end(&comparison->term, TERM_TITLE, out);
	putc('\n', out);
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		bool shown = is_shown(comparison, row, &others);
		if (shown) {
			put_row(comparison, row, column, out);
			row_runs = fmax(row_runs, diff_runs_needed(&row->change));
		}
		left_out += !shown && !row->is_rest;
	}
	if (comparison->arguments->selection.quiet)
		return;
	if (left_out)
		fprintf(out, "%s%zu more row%s%s; --all shows %s\n",
			term_glyph(&comparison->term, "… ", "... "), left_out,
			left_out == 1 ? "" : "s", tested ? ", also without a change" : "",
			left_out == 1 ? "it" : "them");
	for (size_t i = 0, place = 0;
	     i < DIFF_PLACES && (place = diff_next_place(comparison, place)); i++)
		diff_put_place(comparison, place, out);
	putc('\n', out);
	diff_put_limits(comparison, row_runs, out);
}

/* Writes a cell: no character of the text ends the cell or begins Markdown's markup. */
static void put_markdown(const struct comparison *comparison, const char *text, int most, FILE *out)
{
	struct term plain = {.utf8 = comparison->term.utf8};
	char *bytes;
	size_t size;
	FILE *memory = text_stream_open(&bytes, &size);
	term_put(&plain, text, most, memory);
	text_stream_close(memory, &bytes);
	fputs("<code>", out);
	for (const char *at = bytes; *at; at++) {
		if (strchr("|&<>`*_[]\\", *at))
			fprintf(out, "&#%d;", *at);
		else
			putc(*at, out);
	}
	fputs("</code>", out);
	free(bytes);
}

void diff_put_summary(const struct comparison *comparison, FILE *out)
{
	const struct sp_change *total = sp_diff_total(comparison->diff);
	char change[TEXT_SIZE], interval[2 * TEXT_SIZE];
	const char *range = format_interval(comparison, total, interval);
	size_t found = 0;
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		found += row->change.verdict >= SP_DIFF_SLOWER &&
			 row->change.verdict != SP_DIFF_MOVED && !row->is_rest;
	}
	if (!comparison->by_share)
		fprintf(out, "total %s%s%s%s, ", format_change(comparison, total->ratio, change),
			*range ? " (" : "", range, *range ? ")" : "");
	if (comparison_is_tested(comparison))
		fprintf(out, "%zu function%s changed, ", found, found == 1 ? "" : "s");
	fprintf(out, "by %zu and %zu runs", comparison_runs(comparison, SP_DIFF_BASE),
		comparison_runs(comparison, SP_DIFF_NEW));
}

void diff_write_markdown(const struct comparison *comparison, FILE *out)
{
	char change[TEXT_SIZE], interval[2 * TEXT_SIZE], base[TEXT_SIZE], now[TEXT_SIZE],
		titles[2 * TEXT_SIZE];
	size_t others = 0, shown = 0;
	fprintf(out, "**%s**: ", comparison_verdict(comparison));
	diff_put_summary(comparison, out);
	fputs("\n\n", out);
	fprintf(out,
		"| verdict | base %s | new %s | change | 95%% interval | %s |\n"
		"|---|--:|--:|--:|--:|---|\n",
		diff_unit(comparison), diff_unit(comparison), key_titles(comparison, 0, titles));
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff) && shown < MARKDOWN_ROWS; i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		if (!is_shown(comparison, row, &others))
			continue;
		char *name = diff_make_name(comparison, row, 0, 0);
		fprintf(out, "| %s | %s | %s | %s | %s | ",
			sp_diff_verdict_name(row->change.verdict),
			format_quantity(comparison, row->change.base, base),
			format_quantity(comparison, row->change.now, now),
			format_change(comparison, row->change.ratio, change),
			format_interval(comparison, &row->change, interval));
		put_markdown(comparison, name, MARKDOWN_NAME, out);
		fputs(" |\n", out);
		free(name);
		shown++;
	}
	for (size_t i = 0; i < comparison->note_count; i++) {
		fputs("\n", out);
		put_markdown(comparison, comparison->notes[i], 0, out);
		fputs("\n", out);
	}
}
