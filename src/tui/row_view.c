/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/row_view.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "out/table.h"

/* Width of the mark before a line: whether it is open. */
#define MARK_WIDTH 2

/* Widths of bars, by the least width of the terminal. */
static const struct {
	int terminal, bar;
} bars[] = {{120, 16}, {100, 12}, {80, 7}, {0, 5}};

/* Most rows that decide the width of columns; longer names of other rows are cut. */
#define FITTED_ROWS 200

/* Least room for a name after its guides. */
#define LEAST_NAME 16

void row_view_deinit(struct row_view *rows)
{
	free(rows->table.columns);
	free(rows->cells);
	free(rows->lines.items);
	free(rows->constants);
	*rows = (struct row_view){0};
}

static int compare_weights(const struct sp_weight *a, const struct sp_weight *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->samples < b->samples) - (a->samples > b->samples);
}

/* Compares as the library does. Rows with equal weights are ordered by name, and so by address
 * here. */
static int compare_rows(const struct table_line *a, const struct table_line *b, bool by_total)
{
	const struct sp_row *x = a->row, *y = b->row;
	int order = by_total ? compare_weights(&x->total, &y->total)
			     : compare_weights(&x->self, &y->self);
	order = order	   ? order
		: by_total ? compare_weights(&x->self, &y->self)
			   : compare_weights(&x->total, &y->total);
	return order ? order : (x > y) - (x < y);
}

static int compare_self(const void *a, const void *b)
{
	return compare_rows(a, b, false);
}

static int compare_total(const void *a, const void *b)
{
	return compare_rows(a, b, true);
}

void row_view_set(struct row_view *rows, const struct report *report,
		  const struct sp_profile *profile)
{
	bool by_total = report_by_total(report);
	bool all_dsos = rows->all_dsos;
	char mark;
	row_view_deinit(rows);
	rows->all_dsos = all_dsos;
	rows->least = report->row_limit;
	rows->report = report;
	rows->profile = profile;
	rows->cells = xcalloc(profile->row_count + 1, sizeof(*rows->cells));
	for (size_t i = 0; i < profile->row_count; i++)
		rows->cells[i].row = sp_profile_row(profile, i);
	if (!report_by_time(report))
		qsort(rows->cells, profile->row_count, sizeof(*rows->cells),
		      by_total ? compare_total : compare_self);
	for (size_t i = 0; i < profile->row_count; i++) {
		double high = row_order_interval(report, rows->cells[i].row, &mark).high;
		rows->most = high > rows->most ? high : rows->most;
	}
	row_view_search(rows, NULL);
}

const char *row_view_function(const struct sp_row *row)
{
	return row->function ?: row->symbol;
}

static bool has_text(const struct row_view *rows, const struct table_line *cells, const char *text)
{
	char buffer[FORMAT_SIZE];
	for (size_t i = 0; i < rows->report->key_count; i++) {
		const struct column column = {.kind = COLUMN_KEY + (int)rows->report->keys[i]};
		const char *cell = cell_text(&rows->table, cells, &column, buffer);
		if (cell && strcasestr(cell, text))
			return true;
	}
	return false;
}

void row_view_search(struct row_view *rows, const char *text)
{
	rows->lines.count = 0;
	rows->selected = rows->top = 0;
	rows->table.report = rows->report;
	for (size_t i = 0; i < rows->profile->row_count; i++) {
		const struct table_line *cells = &rows->cells[i];
		if (row_order_weight(rows->report, cells->row)->share.value < rows->least ||
		    (text && *text && !has_text(rows, cells, text)))
			continue;
		*list_push(&rows->lines) = (struct row_view_line){.cells = cells};
	}
}

const struct row_view_line *row_view_selected(const struct row_view *rows)
{
	return rows->selected < rows->lines.count ? &rows->lines.items[rows->selected] : NULL;
}

void row_view_move(struct row_view *rows, long lines)
{
	long last = (long)rows->lines.count - 1, at = (long)rows->selected + lines;
	rows->selected = at < 0 || last < 0 ? 0 : (size_t)(at > last ? last : at);
}

typedef LIST(struct row_view_line) line_list;

/* Appends the lines below `parent`, a line of `node`. */
static void append_children(line_list *lines, const struct row_view_line *parent,
			    const struct sp_tree_node *node)
{
	bool chain = node->child_count == 1 && parent->depth;
	unsigned int depth = parent->depth + !chain;
	uint64_t guides = parent->bars;
	if (!chain && !parent->last && parent->depth && parent->depth < 64)
		guides |= (uint64_t)1 << parent->depth;
	for (size_t i = 0; i < node->child_count; i++) {
		struct row_view_line line = {
			.cells = parent->cells,
			.node = sp_tree_child(node, i),
			.depth = depth,
			.bars = guides,
			.chain = chain,
			.last = chain ? parent->last : i + 1 == node->child_count,
		};
		for (;;) {
			line.open = line.node->child_count == 1;
			*list_push(lines) = line;
			if (!line.open)
				break;
			line.node = sp_tree_child(line.node, 0);
			line.chain = true;
		}
	}
}

void row_view_unfold(struct row_view *rows, const struct sp_tree_node *node)
{
	size_t at = rows->selected;
	if (at >= rows->lines.count || rows->lines.items[at].open)
		return;
	line_list added = {0};
	const struct row_view_line line = rows->lines.items[at];
	append_children(&added, &line, line.node ?: node);
	list_reserve(&rows->lines, rows->lines.count + added.count);
	if (added.count) {
		struct row_view_line *to = rows->lines.items + at + 1;
		memmove(to + added.count, to, (rows->lines.count - at - 1) * sizeof(*to));
		memcpy(to, added.items, added.count * sizeof(*to));
		rows->lines.count += added.count;
		rows->lines.items[at].open = true;
	}
	free(added.items);
}

/* Returns the number of lines below the line. */
static size_t lines_below(const struct row_view *rows, size_t at)
{
	const struct row_view_line *line = &rows->lines.items[at];
	size_t end = at + 1;
	while (end < rows->lines.count && (rows->lines.items[end].depth > line->depth ||
					   (line->depth && rows->lines.items[end].chain &&
					    rows->lines.items[end].depth == line->depth)))
		end++;
	return end - at - 1;
}

static void fold(struct row_view *rows, size_t at)
{
	size_t below = lines_below(rows, at);
	struct row_view_line *line = &rows->lines.items[at];
	memmove(line + 1, line + 1 + below, (rows->lines.count - at - 1 - below) * sizeof(*line));
	rows->lines.count -= below;
	line->open = false;
}

bool row_view_fold(struct row_view *rows)
{
	size_t at = rows->selected;
	if (at >= rows->lines.count)
		return false;
	if (!rows->lines.items[at].open) {
		unsigned int depth = rows->lines.items[at].depth;
		if (!depth)
			return false;
		while (rows->lines.items[at].depth >= depth)
			at--;
	}
	rows->selected = at;
	fold(rows, at);
	return true;
}

void row_view_fold_all(struct row_view *rows)
{
	const struct row_view_line *selected = row_view_selected(rows);
	const struct table_line *cells = selected ? selected->cells : NULL;
	size_t count = 0;
	for (size_t i = 0; i < rows->lines.count; i++) {
		const struct row_view_line line = rows->lines.items[i];
		if (line.depth)
			continue;
		if (line.cells == cells)
			rows->selected = count;
		rows->lines.items[count] = line;
		rows->lines.items[count++].open = false;
	}
	rows->lines.count = count;
}

void row_view_fit(struct row_view *rows, const struct term *term)
{
	struct report fitted = *rows->report;
	size_t size, bar = 0;
	while (term->width < bars[bar].terminal)
		bar++;
	rows->bar = bars[bar].bar;
	fitted.term = *term;
	fitted.term.width -= MARK_WIDTH + rows->bar + 1;
	free(rows->table.columns);
	free(rows->constants);
	rows->table = (struct row_table){
		.report = &fitted,
		.term = &fitted.term,
		.branches = rows->profile->of_branches,
		.rows = rows->cells,
		.row_count = rows->profile->row_count,
		.decimals = range_decimals(rows->profile->samples),
	};
	FILE *out = text_stream_open(&rows->constants, &size);
	table_choose_columns(&rows->table, out);
	text_stream_close(out, &rows->constants);
	if (rows->table.row_count > FITTED_ROWS)
		rows->table.row_count = FITTED_ROWS;
	columns_fit(&rows->table);
	rows->table.report = rows->report;
	rows->table.term = &rows->report->term;
}

/* Writes a bar for a share. Its soft end is the interval. */
static void write_bar(const struct row_view *rows, const struct sp_share *share, FILE *out)
{
	const struct term *term = rows->table.term;
	double scale = rows->most > 0 ? rows->bar / rows->most : 0;
	int solid = (int)(share->low * scale + 0.5), soft = (int)(share->high * scale + 0.5);
	enum term_style style = share_style(share->value);
	term_begin(term, style, out);
	for (int i = 0; i < rows->bar; i++)
		fputs(i < solid	 ? term_glyph(term, "█", "#")
		      : i < soft ? term_glyph(term, "░", "-")
				 : " ",
		      out);
	term_end(term, style, out);
	putc(' ', out);
}

/* Writes the guides of a node's line. Returns their width. */
static int write_guides(const struct term *term, const struct row_view_line *line, int room,
			FILE *out)
{
	unsigned int depth = line->depth, most = room > 9 ? (unsigned int)room / 3 : 3, first = 1;
	int used = 0;
	term_begin(term, TERM_DIM, out);
	if (depth > most) {
		used = fprintf(out, "%u: ", depth);
		first = depth - most + (unsigned int)(used + 2) / 3;
		first = first < depth ? first : depth;
	}
	for (unsigned int i = first; i < depth; i++, used += 3)
		fputs(i < 64 && line->bars >> i & 1 ? term_glyph(term, "│  ", "|  ") : "   ", out);
	if (line->chain)
		fputs(line->last ? "   " : term_glyph(term, "│  ", "|  "), out);
	else
		fputs(line->last ? term_glyph(term, "└─ ", "`- ") : term_glyph(term, "├─ ", "|- "),
		      out);
	term_end(term, TERM_DIM, out);
	return used + 3;
}

/* Writes a node's guides, name and dso in the rest of the line. */
static void write_name(const struct row_view *rows, const struct row_view_line *line, int room,
		       FILE *out)
{
	const struct term *term = rows->table.term;
	const struct sp_tree_node *node = line->node;
	char *made = NULL;
	const char *name = node_name(node);
	room -= write_guides(term, line, room - LEAST_NAME, out);
	room = room < 1 ? 1 : room;
	int inlined = node->inlined ? (int)strlen(COLUMN_INLINED) : 0;
	inlined = room - inlined < LEAST_NAME ? 0 : inlined;
	bool differs = node->dso && (rows->all_dsos || !line->cells->row->dso ||
				     strcmp(node->dso, line->cells->row->dso) != 0);
	int dso = differs ? term_text_width(term, node->dso) + 3 : 0;
	dso = room - inlined - dso < LEAST_NAME ? 0 : dso;
	name = name_shorten(term, name, room - inlined - dso, &made);
	enum term_style style = node_style(node);
	term_begin(term, style, out);
	term_put(term, name, room - inlined - dso, out);
	term_end(term, style, out);
	free(made);
	term_begin(term, TERM_DIM, out);
	if (inlined)
		fputs(COLUMN_INLINED, out);
	if (dso) {
		fputs(" [", out);
		/* The kernel's name has brackets. */
		term_put(term, node->dso + (*node->dso == '['), dso - 3, out);
		fputs(node->dso[0] == '[' ? "" : "]", out);
	}
	term_end(term, TERM_DIM, out);
}

/* Writes a node: its share in the column by which rows are ordered, then its name. */
static void write_node(const struct row_view *rows, const struct row_view_line *line, FILE *out)
{
	const struct row_table *table = &rows->table;
	const struct sp_share *share = &line->node->total.share;
	bool by_total = report_by_total(rows->report);
	int room = table->term->width - MARK_WIDTH - rows->bar - 1;
	char buffer[FORMAT_SIZE];
	for (size_t i = 0; i < table->count && !column_is_code(&table->columns[i]); i++) {
		const struct column *column = &table->columns[i];
		bool is_share = column->kind == (by_total ? COLUMN_TOTAL : COLUMN_SELF);
		bool is_range = column->kind == (by_total ? COLUMN_TOTAL_RANGE : COLUMN_SELF_RANGE);
		const char *text =
			is_share   ? format_share(share->value, buffer)
			: is_range ? format_range(table->term, share, table->decimals, buffer)
				   : "";
		enum term_style style = is_share ? share_style(share->value) : TERM_DIM;
		term_pad(column->width - term_text_width(table->term, text), out);
		term_begin(table->term, style, out);
		fputs(text, out);
		term_end(table->term, style, out);
		term_pad(COLUMN_GAP, out);
		room -= column->width + COLUMN_GAP;
	}
	write_name(rows, line, room, out);
}

static void write_line(const struct row_view *rows, const struct row_view_line *line, FILE *out)
{
	const struct term *term = rows->table.term;
	bool opens = line->node
			     ? line->node->child_count > 0
			     : row_view_function(line->cells->row) && rows->profile->has_callchains;
	fputs(!opens	   ? "  "
	      : line->open ? term_glyph(term, "▾ ", "- ")
			   : term_glyph(term, "▸ ", "+ "),
	      out);
	if (line->node) {
		term_pad(rows->bar + 1, out);
		write_node(rows, line, out);
		return;
	}
	/* The bar has the interval that the line states. */
	char mark;
	const struct sp_share share = row_order_interval(rows->report, line->cells->row, &mark);
	write_bar(rows, &share, out);
	table_write_row(&rows->table, line->cells, out);
}

void row_view_draw(struct row_view *rows, struct screen *screen, int first, int count)
{
	size_t visible = count > 1 ? (size_t)count - 1 : 1;
	rows->first_row = first + 1;
	if (rows->selected < rows->top)
		rows->top = rows->selected;
	if (rows->selected >= rows->top + visible)
		rows->top = rows->selected - visible + 1;
	for (size_t i = 0; i <= visible; i++) {
		char *text;
		size_t size, at = rows->top + i - 1;
		if (i && at >= rows->lines.count)
			break;
		FILE *out = text_stream_open(&text, &size);
		if (i) {
			write_line(rows, &rows->lines.items[at], out);
		} else {
			term_pad(MARK_WIDTH + rows->bar + 1, out);
			table_write_titles(&rows->table, out);
		}
		text_stream_close(out, &text);
		screen_line(screen, first + (int)i, 0, text, i && at == rows->selected);
		free(text);
	}
}
