/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of rows as aligned text:
 *
 *	  self  low–high  samples  comm  dso        symbol
 *	62.31%  60.9–63.6   3,113  demo  demo       [.] hash_words
 *
 * Every cell is made twice, once to measure its column and once to print it. In
 * a file nothing is cut; on a terminal symbol and function, then dso and comm give way.
 */
#include "out/table.h"

#include <stdlib.h>
#include <string.h>
#include "out/format.h"

enum column_kind {
	COLUMN_TOTAL,
	COLUMN_TOTAL_RANGE,
	COLUMN_SELF,
	COLUMN_SELF_RANGE,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_EVENT, /* of a group, by its index: its share of what rows are ordered by */
	COLUMN_EVENT_RANGE,
	COLUMN_RATIO,
	COLUMN_RATIO_RANGE,
	COLUMN_KEY, /* and behind it, one for each enum sp_key */
};

#define GAP 2

/* Widths that names are cut to, step by step. */
#define GOOD_SYMBOL 44
#define GOOD_NAME 18 /* "[kernel.kallsyms]" */
#define LEAST_SYMBOL 24
#define LEAST_NAME 8
#define BARE_SYMBOL 12
#define BARE_NAME 3

struct column {
	int kind; /* of enum column_kind */
	size_t index; /* of the event or ratio */
	int width;
};

/* A row of one event, or of a group's: then `joint` is not NULL. */
struct cells {
	const struct sp_row *row;
	const struct sp_joint_row *joint;
};

struct table {
	const struct report *report;
	const struct term *term;
	bool branches; /* are what is counted */
	const struct joint_view *view; /* NULL: of one event */
	struct column *columns;
	size_t count;
};

static bool is_number(int kind)
{
	return kind < COLUMN_KEY || sp_key_is_number((enum sp_key)(kind - COLUMN_KEY));
}

static const char *column_title(const struct table *table, const struct column *column)
{
	switch (column->kind) {
	case COLUMN_EVENT:
		return table->view->profiles[column->index]->event;
	case COLUMN_RATIO:
		return table->view->group->ratios[column->index].name;
	case COLUMN_TOTAL:
		return "total";
	case COLUMN_SELF:
		return "self";
	case COLUMN_TOTAL_RANGE:
	case COLUMN_SELF_RANGE:
	case COLUMN_EVENT_RANGE:
	case COLUMN_RATIO_RANGE:
		return term_glyph(table->term, "low–high", "low-high");
	case COLUMN_SAMPLES:
		return table->branches ? "branches" : "samples";
	case COLUMN_PERIOD:
		return "period";
	default:
		return report_key_name(table->report, (enum sp_key)(column->kind - COLUMN_KEY));
	}
}

static const char *key_text(const struct sp_row *row, enum sp_key key, char buffer[FORMAT_SIZE])
{
	int64_t number;
	if (!sp_key_is_number(key))
		return row_text(row, key);
	if (!row_number(row, key, &number))
		return NULL;
	snprintf(buffer, FORMAT_SIZE, "%lld", (long long)number);
	return buffer;
}

/* What a group's column is of. */
static const struct sp_share *event_share(const struct table *table, const struct cells *cells,
					  size_t index)
{
	const struct sp_joint_row *joint = cells->joint;
	return &(table->report->children ? joint->total : joint->self)[index].share;
}

static const char *ratio_text(const struct table *table, const struct cells *cells,
			      const struct column *column, char buffer[FORMAT_SIZE])
{
	const struct sp_joint_row *joint = cells->joint;
	const struct sp_ratio *ratio =
		&(table->report->children ? joint->total_ratios : joint->ratios)[column->index];
	bool percent = table->view->group->ratios[column->index].percent;
	if (column->kind == COLUMN_RATIO_RANGE)
		return ratio->bounded ? format_ratio_range(table->term, ratio, percent, buffer) : NULL;
	return ratio->known ? format_ratio(ratio->value, percent, buffer) : NULL;
}

/* The cell's text: in `buffer`, or a string of the row's. */
static const char *cell_text(const struct table *table, const struct cells *cells,
			     const struct column *column, char buffer[FORMAT_SIZE])
{
	const struct sp_row *row = cells->row;
	switch (column->kind) {
	case COLUMN_EVENT:
		return format_share(event_share(table, cells, column->index)->value, buffer);
	case COLUMN_EVENT_RANGE:
		return format_range(table->term, event_share(table, cells, column->index), buffer);
	case COLUMN_RATIO:
	case COLUMN_RATIO_RANGE:
		return ratio_text(table, cells, column, buffer);
	case COLUMN_TOTAL:
		return format_share(row->total.share.value, buffer);
	case COLUMN_TOTAL_RANGE:
		return format_range(table->term, &row->total.share, buffer);
	case COLUMN_SELF:
		return format_share(row->self.share.value, buffer);
	case COLUMN_SELF_RANGE:
		return format_range(table->term, &row->self.share, buffer);
	case COLUMN_SAMPLES:
		return format_count(row->self.samples, buffer);
	case COLUMN_PERIOD:
		return format_count(row->self.weight, buffer);
	default:
		return key_text(row, (enum sp_key)(column->kind - COLUMN_KEY), buffer);
	}
}

/* Symbols that are values: each has a level of its own. */
static bool is_side(int kind)
{
	return kind == COLUMN_KEY + SP_KEY_SYMBOL_FROM || kind == COLUMN_KEY + SP_KEY_SYMBOL_TO ||
	       kind == COLUMN_KEY + SP_KEY_SYMBOL_DADDR;
}

/* Symbols and functions. */
static bool is_code(int kind)
{
	return kind == COLUMN_KEY + SP_KEY_SYMBOL || kind == COLUMN_KEY + SP_KEY_FUNCTION ||
	       is_side(kind);
}

/* What stands before the cell's text: "[k] " of the first that is the row's code, and of sides. */
static int prefix_width(const struct table *table, size_t index)
{
	if (!is_code(table->columns[index].kind))
		return 0;
	for (size_t i = 0; i < index && !is_side(table->columns[index].kind); i++)
		if (is_code(table->columns[i].kind) && !is_side(table->columns[i].kind))
			return 0;
	return 4;
}

/* And behind it, of a function that is nowhere but in its callers. */
#define INLINED " (inlined)"

static int suffix_width(const struct sp_row *row, int kind)
{
	return kind == COLUMN_KEY + SP_KEY_FUNCTION && row->inlined ? (int)strlen(INLINED) : 0;
}

static void add_column(struct table *table, int kind, size_t index)
{
	struct column *column = &table->columns[table->count];
	for (size_t i = 0; i < table->count; i++)
		if (table->columns[i].kind == kind && table->columns[i].index == index)
			return;
	*column = (struct column){.kind = kind, .index = index};
	column->width = term_text_width(table->term, column_title(table, column));
	table->count++;
}

static void choose_group_columns(struct table *table)
{
	const struct sp_group *group = table->view->group;
	for (size_t i = 0; i < group->profile_count; i++) {
		add_column(table, COLUMN_EVENT, i);
		add_column(table, COLUMN_EVENT_RANGE, i);
	}
	for (size_t i = 0; i < group->ratio_count; i++) {
		add_column(table, COLUMN_RATIO, i);
		add_column(table, COLUMN_RATIO_RANGE, i);
	}
}

/* Those that -F names. */
static void choose_named_columns(struct table *table)
{
	static const int kinds[] = {
		[REPORT_COLUMN_SELF - SP_KEY_COUNT] = COLUMN_SELF,
		[REPORT_COLUMN_TOTAL - SP_KEY_COUNT] = COLUMN_TOTAL,
		[REPORT_COLUMN_SELF_RANGE - SP_KEY_COUNT] = COLUMN_SELF_RANGE,
		[REPORT_COLUMN_TOTAL_RANGE - SP_KEY_COUNT] = COLUMN_TOTAL_RANGE,
		[REPORT_COLUMN_SAMPLES - SP_KEY_COUNT] = COLUMN_SAMPLES,
		[REPORT_COLUMN_PERIOD - SP_KEY_COUNT] = COLUMN_PERIOD,
	};
	const struct report *report = table->report;
	for (size_t i = 0; i < report->column_count; i++) {
		unsigned int column = report->columns[i];
		add_column(table, column < SP_KEY_COUNT ? COLUMN_KEY + (int)column :
				  kinds[column - SP_KEY_COUNT], 0);
	}
}

static void choose_columns(struct table *table)
{
	const struct report *report = table->report;
	if (report->column_count && !table->view) {
		choose_named_columns(table);
		for (size_t i = 0; i < report->key_count; i++)
			add_column(table, COLUMN_KEY + (int)report->keys[i], 0);
		return;
	}
	if (table->view) {
		choose_group_columns(table);
	} else {
		if (report->children) {
			add_column(table, COLUMN_TOTAL, 0);
			add_column(table, COLUMN_TOTAL_RANGE, 0);
		}
		add_column(table, COLUMN_SELF, 0);
		add_column(table, COLUMN_SELF_RANGE, 0);
	}
	add_column(table, COLUMN_SAMPLES, 0);
	for (size_t i = 0; i < report->key_count; i++)
		add_column(table, COLUMN_KEY + (int)report->keys[i], 0);
}

/* How many columns there may be. */
static size_t columns_most(const struct joint_view *view)
{
	size_t numbers = view ? 2 * (view->group->profile_count + view->group->ratio_count) : 0;
	return COLUMN_KEY + numbers + SP_KEY_COUNT;
}

/* In a file names in the last column need no room, and most of the text is there. */
static void measure(struct table *table, const struct cells *rows, size_t count)
{
	char buffer[FORMAT_SIZE];
	bool all = table->term->width || is_number(table->columns[table->count - 1].kind);
	size_t measured = table->count - !all;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < measured; j++) {
			struct column *column = &table->columns[j];
			const char *text = cell_text(table, &rows[i], column, buffer);
			int width = prefix_width(table, j) +
				    (text ? term_text_width(table->term, text) : 1) +
				    suffix_width(rows[i].row, column->kind);
			if (width > column->width)
				column->width = width;
		}
	}
}

/* Takes up to `excess` columns from this one; returns what is left of the excess. */
static int give_way(struct column *column, int least, int excess)
{
	int spare = column->width - least;
	if (spare <= 0 || excess <= 0)
		return excess;
	int given = spare < excess ? spare : excess;
	column->width -= given;
	return excess - given;
}

/* How much wider than the terminal the table is. */
static int table_excess(const struct table *table)
{
	int excess = -GAP - table->term->width;
	for (size_t i = 0; i < table->count; i++)
		excess += table->columns[i].width + GAP;
	return excess;
}

static void cut_names(struct table *table, int least_symbol, int least_name)
{
	int excess = table_excess(table);
	for (size_t i = 0; i < table->count; i++)
		if (is_code(table->columns[i].kind))
			excess = give_way(&table->columns[i], least_symbol, excess);
	for (size_t i = table->count; i-- > 0;)
		if (!is_number(table->columns[i].kind) && !is_code(table->columns[i].kind))
			excess = give_way(&table->columns[i], least_name, excess);
}

static void drop_column(struct table *table, int kind)
{
	size_t kept = 0;
	for (size_t i = 0; i < table->count; i++)
		if (table->columns[i].kind != kind)
			table->columns[kept++] = table->columns[i];
	table->count = kept;
}

/* Makes the table fit the terminal. What it is ordered by keeps its interval. */
static void fit(struct table *table)
{
	if (!table->term->width)
		return;
	cut_names(table, GOOD_SYMBOL, GOOD_NAME);
	cut_names(table, LEAST_SYMBOL, LEAST_NAME);
	if (table->report->children && table_excess(table) > 0)
		drop_column(table, COLUMN_SELF_RANGE);
	if (table_excess(table) > 0)
		drop_column(table, COLUMN_EVENT_RANGE);
	cut_names(table, BARE_SYMBOL, BARE_NAME);
}

static enum term_style cell_style(const struct table *table, const struct cells *cells,
				  const struct column *column)
{
	const struct sp_row *row = cells->row;
	int kind = column->kind;
	switch (kind) {
	case COLUMN_EVENT:
		return share_style(event_share(table, cells, column->index)->value);
	case COLUMN_TOTAL:
		return share_style(row->total.share.value);
	case COLUMN_SELF:
		return row->self.samples ? share_style(row->self.share.value) : TERM_DIM;
	case COLUMN_TOTAL_RANGE:
	case COLUMN_SELF_RANGE:
	case COLUMN_EVENT_RANGE:
	case COLUMN_RATIO_RANGE:
		return TERM_DIM;
	case COLUMN_KEY + SP_KEY_SYMBOL:
	case COLUMN_KEY + SP_KEY_FUNCTION:
		return row->symbol_known ? TERM_PLAIN : TERM_DIM;
	case COLUMN_KEY + SP_KEY_SYMBOL_FROM:
	case COLUMN_KEY + SP_KEY_SYMBOL_TO:
	case COLUMN_KEY + SP_KEY_SYMBOL_DADDR:
		return sp_row_value(row, (enum sp_key)(kind - COLUMN_KEY))->known ? TERM_PLAIN
										    : TERM_DIM;
	default:
		return TERM_PLAIN;
	}
}

/* "[k] " */
static void write_level(const struct term *term, enum sp_level level, FILE *out)
{
	enum term_style style = level == SP_LEVEL_USER ? TERM_DIM : TERM_KERNEL;
	term_begin(term, style, out);
	fputs(format_level(level), out);
	putc(' ', out);
	term_end(term, style, out);
}

static enum sp_level level_of(const struct sp_row *row, int kind)
{
	return is_side(kind) ? sp_row_value(row, (enum sp_key)(kind - COLUMN_KEY))->level : row->level;
}

static bool write_cell(const struct table *table, const struct cells *cells, size_t index,
		       FILE *out)
{
	const struct sp_row *row = cells->row;
	const struct column *column = &table->columns[index];
	const struct term *term = table->term;
	char buffer[FORMAT_SIZE], *made = NULL;
	const char *text = cell_text(table, cells, column, buffer);
	int suffix = suffix_width(row, column->kind);
	int width = column->width - prefix_width(table, index);
	bool last = index + 1 == table->count;
	if (!text)
		text = "?";
	/* Where room is scarce the name needs it more. */
	if (term->width && suffix + LEAST_NAME > width &&
	    suffix + term_text_width(term, text) > width)
		suffix = 0;
	width -= suffix;
	if (prefix_width(table, index))
		write_level(term, level_of(row, column->kind), out);
	if (is_code(column->kind)) {
		text = name_shorten(term, text, term->width ? width : 0, &made);
		if (!text)
			return false;
	}
	if (is_number(column->kind))
		term_pad(width - term_text_width(term, text), out);
	enum term_style style = cell_style(table, cells, column);
	term_begin(term, style, out);
	int used = term_put(term, text, term->width ? width : 0, out);
	term_end(term, style, out);
	if (suffix) {
		term_begin(term, TERM_DIM, out);
		fputs(INLINED, out);
		term_end(term, TERM_DIM, out);
	}
	if (!last)
		term_pad((is_number(column->kind) ? 0 : width - used) + GAP, out);
	free(made);
	return true;
}

static void write_titles(const struct table *table, FILE *out)
{
	term_begin(table->term, TERM_DIM, out);
	for (size_t i = 0; i < table->count; i++) {
		const struct column *column = &table->columns[i];
		const char *title = column_title(table, column);
		int room = column->width - term_text_width(table->term, title);
		if (is_number(column->kind))
			term_pad(room, out);
		term_put(table->term, title, 0, out);
		if (i + 1 < table->count)
			term_pad((is_number(column->kind) ? 0 : room) + GAP, out);
	}
	term_end(table->term, TERM_DIM, out);
	putc('\n', out);
}

/* Whether it is of a tracepoint's key that none of the rows has: it is another event's. */
static bool is_void(const struct column *column, const struct cells *rows, size_t count)
{
	if (column->kind < COLUMN_KEY + SP_KEY_TRACE || column->kind >= COLUMN_KEY + SP_KEY_COUNT)
		return false;
	for (size_t i = 0; i < count; i++)
		if (row_text(rows[i].row, (enum sp_key)(column->kind - COLUMN_KEY)))
			return false;
	return true;
}

static void drop_void(struct table *table, const struct cells *rows, size_t count)
{
	size_t kept = 0, last = table->count - 1;
	for (size_t i = 0; i < table->count; i++)
		if (!is_void(&table->columns[i], rows, count) || (i == last && !kept))
			table->columns[kept++] = table->columns[i];
	table->count = kept;
}

static bool write_rows(struct table *table, const struct cells *rows, size_t count, FILE *out)
{
	table->columns = calloc(columns_most(table->view), sizeof(*table->columns));
	bool done = table->columns != NULL;
	if (done) {
		choose_columns(table);
		drop_void(table, rows, count);
		measure(table, rows, count);
		fit(table);
		write_titles(table, out);
	}
	for (size_t i = 0; done && i < count; i++) {
		for (size_t j = 0; done && j < table->count; j++)
			done = write_cell(table, &rows[i], j, out);
		putc('\n', out);
	}
	free(table->columns);
	return done;
}

bool table_write(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	struct table table = {.report = report, .term = &report->term,
			      .branches = profile->of_branches};
	size_t count = report_row_count(report, profile);
	struct cells *rows = calloc(count + 1, sizeof(*rows));
	for (size_t i = 0; rows && i < count; i++)
		rows[i].row = &profile->rows[i];
	bool done = rows && write_rows(&table, rows, count, out);
	free(rows);
	return done;
}

bool table_write_group(const struct report *report, const struct joint_view *view, FILE *out)
{
	struct table table = {.report = report, .term = &report->term, .view = view,
			      .branches = view->profiles[0]->of_branches};
	const struct sp_group *group = view->group;
	struct cells *rows = calloc(group->row_count + 1, sizeof(*rows));
	size_t count = 0;
	for (size_t i = 0; rows && i < group->row_count; i++)
		if (report_shows(report, group, &group->rows[i]))
			rows[count++] = (struct cells){&group->rows[i].row, &group->rows[i]};
	bool done = rows && write_rows(&table, rows, count, out);
	free(rows);
	return done;
}
