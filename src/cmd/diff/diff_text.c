/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of a comparison for people: text and Markdown. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/diff/comparison.h"
#include "out/format_value.h"

/* Rows without a change in text without --all, and the share of either side from which they are
 * shown. */
#define OTHER_ROWS 8
#define OTHER_SHARE 0.02

/* Nodes of the call tree in text; the last functions of a path, and characters of a name. */
#define PLACES 3
#define PATH_MOST 4
#define NAME_MOST 40

/* Limits of Markdown, which hosts of code truncate at 64 KB: rows, and characters of a name. */
#define MARKDOWN_ROWS 100
#define MARKDOWN_NAME 160

enum { TEXT_SIZE = 32 };

/* Formats a change: "+6.1%", "-12%", "×3.4". */
static const char *format_change(const struct comparison *comparison, double ratio,
				 char text[TEXT_SIZE])
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

/* Formats the interval of a change: "+4.8 to +7.4%". */
static const char *format_interval(const struct comparison *comparison,
				   const struct sp_change *change, char text[2 * TEXT_SIZE])
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

/* Formats a quantity: ms, millions of events, or a share in percent. */
static const char *format_quantity(const struct comparison *comparison, double quantity,
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

static const char *unit(const struct comparison *comparison)
{
	return comparison->by_share ? "share" : comparison->is_time ? "ms" : "M";
}

static const char *format_verdict(const struct sp_change *change)
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

/* Returns the row's name, made of its keys, for the caller to free; NULL when out of memory. */
static char *make_name(const struct comparison *comparison, const struct sp_diff_row *row,
		       int width)
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
	size_t size = 1;
	for (size_t i = 0; i < 4; i++)
		size += parts[i] ? strlen(parts[i]) + 2 : 0;
	name = calloc(size, 1);
	for (size_t i = 0; name && i < 4; i++) {
		if (!parts[i])
			continue;
		if (*name)
			strcat(name, "  ");
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

/* Returns `text`: the titles of the keys, in the order of make_name(). */
static const char *key_titles(const struct comparison *comparison, char text[2 * TEXT_SIZE])
{
	static const enum sp_key order[] = {SP_KEY_COMM,    SP_KEY_SYMBOL,  SP_KEY_FUNCTION,
					    SP_KEY_SRCFILE, SP_KEY_SRCLINE, SP_KEY_DSO};
	char *end = text;
	*text = 0;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		for (size_t j = 0; j < comparison->arguments->key_count; j++)
			if (comparison->arguments->keys[j] == order[i])
				end = stpcpy(stpcpy(end, end > text ? "  " : ""),
					     sp_key_name(order[i]));
	return text;
}

static void put_row(const struct comparison *comparison, const struct sp_diff_row *row, FILE *out)
{
	char text[2 * TEXT_SIZE];
	const struct sp_change *change = &row->change;
	bool tested = comparison_is_tested(comparison);
	int used = 2 * QUANTITY_WIDTH + CHANGE_WIDTH + INTERVAL_WIDTH + 7 +
		   (tested ? VERDICT_WIDTH + 2 : 0);
	int width = comparison->term.width > used + 12 ? comparison->term.width - used : 0;
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
	char *name = make_name(comparison, row, width);
	term_put(&comparison->term, name ? name : "?", width, out);
	free(name);
	putc('\n', out);
}

static const char *unit_words(const struct comparison *comparison)
{
	if (!comparison->is_time)
		return "million events";
	return comparison->arguments->mode == SP_MODE_CPU ? "ms of CPU time" : "ms";
}

static void put_side(const struct comparison *comparison, enum sp_diff_side side, FILE *out)
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
	if (!comparison->by_share)
		fprintf(out, ", %s %s a run%s",
			format_quantity(comparison, side == SP_DIFF_BASE ? total->base : total->now,
					text),
			unit_words(comparison), comparison->is_counted ? ", counted" : "");
	putc('\n', out);
}

static void put_total(const struct comparison *comparison, FILE *out)
{
	const struct sp_change *total = sp_diff_total(comparison->diff);
	char change[TEXT_SIZE], interval[2 * TEXT_SIZE];
	if (comparison->by_share)
		return;
	const char *range = format_interval(comparison, total, interval);
	fprintf(out, "total  %s", format_change(comparison, total->ratio, change));
	if (*range)
		fprintf(out, "  (%s)", range);
	fprintf(out, "  %s", format_verdict(total));
	if (total->verdict == SP_DIFF_INCONCLUSIVE && total->runs > 0 && total->runs < 1000)
		fprintf(out, " (%.0f runs of each side would decide)", total->runs);
	putc('\n', out);
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

/* Writes "found slower below main > … > parse: 154.9, now 175.2 ms"; "…" is left out. */
static void put_place(const struct comparison *comparison, size_t index, FILE *out)
{
	const struct sp_diff_node *node = sp_diff_node(comparison->diff, index);
	char base[TEXT_SIZE], now[TEXT_SIZE], *text = NULL;
	size_t depth, size;
	const struct sp_diff_node **path = comparison_path(comparison, index, &depth);
	FILE *stream = path ? open_memstream(&text, &size) : NULL;
	for (size_t i = 0; stream && i < depth; i++) {
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
	if (stream) {
		fprintf(stream, ": %s, now %s %s", format_quantity(comparison, node->base, base),
			format_quantity(comparison, node->now, now),
			comparison->by_share ? "of all" : unit(comparison));
		if (!fclose(stream)) {
			int column = fprintf(out, "found %s below ",
					     sp_diff_verdict_name(node->change.verdict));
			term_wrap(&comparison->term, text, column, 2, 0, out);
		}
	}
	free(text);
	free(path);
}

/* Writes the deepest nodes of the call tree that changed, the largest difference first. */
static void put_places(const struct comparison *comparison, FILE *out)
{
	const struct sp_diff_node *last = NULL;
	for (size_t shown = 0; shown < PLACES; shown++) {
		size_t most = 0;
		for (size_t i = 1; i < sp_diff_node_count(comparison->diff); i++) {
			const struct sp_diff_node *node = sp_diff_node(comparison->diff, i);
			if (node->is_deepest && (!last || is_larger(last, node)) &&
			    (!most || is_larger(node, sp_diff_node(comparison->diff, most))))
				most = i;
		}
		if (!most)
			break;
		last = sp_diff_node(comparison->diff, most);
		put_place(comparison, most, out);
	}
}

/* Writes pairs of functions that may be one with two names. */
static void put_renames(const struct comparison *comparison, FILE *out)
{
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		char *text = NULL, *gone = NULL, *now = NULL;
		if (!row->other_name || row->change.verdict != SP_DIFF_APPEARED)
			continue;
		const char *from =
			name_shorten(&comparison->term, row->other_name, NAME_MOST, &gone);
		const char *to = name_shorten(&comparison->term, row->function, NAME_MOST, &now);
		if (asprintf(&text,
			     "%s (gone) and %s (new) may be one function under two names: their "
			     "callers, callees and times are alike.",
			     from, to) >= 0)
			put_sentence(comparison, text, out);
		free(text);
		free(gone);
		free(now);
	}
}

/* Writes what the table does not show: its limits, and how to get a better one. */
static void put_limits(const struct comparison *comparison, size_t left_out, bool unknown,
		       FILE *out)
{
	if (left_out)
		fprintf(out, "%s%zu row%s without a change (--all)\n",
			term_glyph(&comparison->term, "… ", "... "), left_out,
			left_out == 1 ? "" : "s");
	put_places(comparison, out);
	putc('\n', out);
	put_renames(comparison, out);
	if (comparison_is_tested(comparison)) {
		if (unknown)
			put_sentence(comparison,
				     "?: inconclusive; with more runs, 9 of 10 comparisons find "
				     "such a change (their number: --format json).",
				     out);
		put_sentence(
			comparison,
			"Another order of the same code in memory can change single functions by "
			"several percent.",
			out);
	} else {
		put_sentence(comparison,
			     "No verdicts: they need 3 runs of each side, recorded in turns, as "
			     "'sprof record --repeat 5 --versus NEW OLD' records them. Intervals "
			     "are of sampling if a side has one run.",
			     out);
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
	bool unknown = sp_diff_total(comparison->diff)->verdict == SP_DIFF_INCONCLUSIVE;
	char base[TEXT_SIZE], now[TEXT_SIZE], titles[2 * TEXT_SIZE];
	if (!comparison->arguments->selection.quiet) {
		put_side(comparison, SP_DIFF_BASE, out);
		put_side(comparison, SP_DIFF_NEW, out);
		put_total(comparison, out);
		putc('\n', out);
	}
	snprintf(base, sizeof(base), "base %s", comparison->by_share ? "" : unit(comparison));
	snprintf(now, sizeof(now), "new %s", comparison->by_share ? "" : unit(comparison));
	term_begin(&comparison->term, TERM_TITLE, out);
	fprintf(out, "%s%*s%*s%*s%*s  %s", tested ? "verdict   " : "", QUANTITY_WIDTH, base,
		QUANTITY_WIDTH + 1, now, CHANGE_WIDTH + 2, "change", INTERVAL_WIDTH + 2,
		"95% interval", key_titles(comparison, titles));
	term_end(&comparison->term, TERM_TITLE, out);
	putc('\n', out);
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		bool shown = is_shown(comparison, row, &others);
		if (shown)
			put_row(comparison, row, out);
		unknown |= shown && row->change.verdict == SP_DIFF_INCONCLUSIVE;
		left_out += !shown && !row->is_rest;
	}
	if (!comparison->arguments->selection.quiet)
		put_limits(comparison, left_out, unknown, out);
}

/* Writes a cell: no character of the text ends the cell or begins Markdown's markup. */
static void put_markdown(const struct comparison *comparison, const char *text, int most, FILE *out)
{
	struct term plain = {.utf8 = comparison->term.utf8};
	char *bytes = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&bytes, &size);
	if (memory) {
		term_put(&plain, text, most, memory);
		fclose(memory);
	}
	fputs("<code>", out);
	for (const char *at = bytes; at && *at; at++) {
		if (strchr("|&<>`*_[]\\", *at))
			fprintf(out, "&#%d;", *at);
		else
			putc(*at, out);
	}
	fputs("</code>", out);
	free(bytes);
}

void diff_write_markdown(const struct comparison *comparison, FILE *out)
{
	const struct sp_change *total = sp_diff_total(comparison->diff);
	char change[TEXT_SIZE], interval[2 * TEXT_SIZE], base[TEXT_SIZE], now[TEXT_SIZE],
		titles[2 * TEXT_SIZE];
	size_t others = 0, shown = 0, found = 0;
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		found += row->change.verdict >= SP_DIFF_SLOWER && !row->is_rest;
	}
	fprintf(out, "**%s**: ", comparison_verdict(comparison));
	if (!comparison->by_share)
		fprintf(out, "total %s (%s), ", format_change(comparison, total->ratio, change),
			format_interval(comparison, total, interval));
	fprintf(out, "%zu function%s changed, by %zu and %zu runs\n\n", found,
		found == 1 ? "" : "s", comparison_runs(comparison, SP_DIFF_BASE),
		comparison_runs(comparison, SP_DIFF_NEW));
	fprintf(out,
		"| verdict | base %s | new %s | change | 95%% interval | %s |\n"
		"|---|--:|--:|--:|--:|---|\n",
		unit(comparison), unit(comparison), key_titles(comparison, titles));
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff) && shown < MARKDOWN_ROWS; i++) {
		const struct sp_diff_row *row = sp_diff_row(comparison->diff, i);
		if (!is_shown(comparison, row, &others))
			continue;
		char *name = make_name(comparison, row, 0);
		fprintf(out, "| %s | %s | %s | %s | %s | ",
			sp_diff_verdict_name(row->change.verdict),
			format_quantity(comparison, row->change.base, base),
			format_quantity(comparison, row->change.now, now),
			format_change(comparison, row->change.ratio, change),
			format_interval(comparison, &row->change, interval));
		put_markdown(comparison, name ? name : "?", MARKDOWN_NAME, out);
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
