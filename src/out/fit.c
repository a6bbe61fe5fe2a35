/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Widths of the table's columns. On a terminal, names are cut until the table fits. In a file
 * nothing is cut: a name that is wider than its column only shifts the rest of its line.
 */
#include "out/columns.h"

#include <stdlib.h>
#include <string.h>

/* Maximum width of a column of names in a file; the last column has none. */
#define FILE_NAME 60

/*
 * Widths to which names are cut, in steps: each step is applied only if the table is still too
 * wide. Code is the answer, so other names give way first.
 */
static const struct {
	int symbol, name;
} steps[] = {{40, 18 /* width of "[kernel.kallsyms]" */}, {28, 12}, {24, 8}, {24, 6}, {20, 4},
	     {12, 3}};

/* Room for a line's number or a thread's, which are never cut, at each step. */
#define MARK_WIDTH 6

/* Columns that are dropped, in this order, unless names fit into the widths of a step. */
static const struct {
	int kind;
	size_t step;
} drops[] = {
	{COLUMN_LONGEST, 0},
	{COLUMN_WAITS, 0},
	{COLUMN_TOTAL, 2}, /* or COLUMN_SELF: the share that does not order the rows */
	{COLUMN_EVENT_RANGE, 2},
	{COLUMN_KEY + SP_KEY_DSO, 2},
	{COLUMN_KEY + SP_KEY_COMM, 3},
};

/* Most rows of a table that may lose a key: their texts are compared in pairs. */
#define COMPARED_ROWS 200

/* Returns the width of a cell if its name is cut to `room` columns (0: not cut). */
static int cell_width(const struct row_table *table, const struct table_line *cells, size_t index,
		      int room)
{
	const struct column *column = &table->columns[index];
	char buffer[FORMAT_SIZE], *made = NULL;
	const char *text = cell_text(table, cells, column, buffer);
	int affixes = column_level_width(table, index) + cell_suffix_width(cells->row, column);
	if (text && column_is_code(column))
		text = name_shorten(table->term, text, room > affixes ? room - affixes : room, &made);
	int width = affixes + (text ? term_text_width(table->term, text) : 1);
	free(made);
	return width;
}

/* Sets a column's width to its widest cell, at most `room` (0: no limit). */
static void measure(struct row_table *table, size_t index, int room)
{
	struct column *column = &table->columns[index];
	column->width = term_text_width(table->term, column_title(table, column));
	for (size_t i = 0; i < table->row_count; i++) {
		int width = cell_width(table, &table->rows[i], index, room);
		if (room && width > room)
			width = room;
		if (width > column->width)
			column->width = width;
	}
}

/* Returns the width to which a column may be cut at a step. A column has room for its title. */
static int least_width(const struct row_table *table, size_t index, size_t step)
{
	const struct column *column = &table->columns[index];
	int title = term_text_width(table->term, column_title(table, column));
	/* States are few and short, and what a table of threads is about. */
	bool whole = column_is_number(column) ||
		     (column->kind == COLUMN_KEY + SP_KEY_STATE &&
		      step + 1 < sizeof(steps) / sizeof(*steps));
	int least = whole ? column->width
		    : column_is_code(column)
			    ? steps[step].symbol
			    : steps[step].name + (column_mark(column) ? MARK_WIDTH : 0);
	return least > column->width ? column->width : least > title ? least : title;
}

/* Returns by how many columns the table is wider than the terminal. */
static int table_excess(const struct row_table *table)
{
	int excess = -COLUMN_GAP - table->term->width;
	for (size_t i = 0; i < table->count; i++)
		excess += table->columns[i].width + COLUMN_GAP;
	return excess;
}

/* Cuts names to the widths of a step, as far as needed: the last key first, and code at the end. */
static void cut_names(struct row_table *table, size_t step)
{
	int excess = table_excess(table);
	for (size_t i = 2 * table->count; i-- > 0 && excess > 0;) {
		size_t index = i % table->count;
		struct column *column = &table->columns[index];
		if (column_is_code(column) != (i < table->count))
			continue;
		int spare = column->width - least_width(table, index, step);
		spare = spare < excess ? spare : excess;
		column->width -= spare;
		excess -= spare;
	}
}

/* Returns whether two rows have the same privilege level, and equal texts in all keys but one. */
static bool are_equal_without(const struct row_table *table, size_t omitted, size_t a, size_t b)
{
	char buffers[2][FORMAT_SIZE];
	if (table->rows[a].row->level != table->rows[b].row->level)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		const struct column *column = &table->columns[i];
		if (i == omitted || column->kind < COLUMN_KEY)
			continue;
		const char *one = cell_text(table, &table->rows[a], column, buffers[0]);
		const char *other = cell_text(table, &table->rows[b], column, buffers[1]);
		if (strcmp(one ? one : "", other ? other : "") != 0)
			return false;
	}
	return true;
}

/* Returns whether the column is a key that the user did not name, and that no two rows need. */
static bool is_spare_key(const struct row_table *table, size_t index)
{
	if (table->report->keep_keys || table->row_count > COMPARED_ROWS)
		return false;
	for (size_t a = 0; a < table->row_count; a++)
		for (size_t b = 0; b < a; b++)
			if (are_equal_without(table, index, a, b))
				return false;
	return true;
}

/* Returns by how many columns the table is wider than the terminal if names are cut at a step. */
static int least_excess(const struct row_table *table, size_t step)
{
	int excess = table_excess(table);
	for (size_t i = 0; i < table->count; i++)
		excess -= table->columns[i].width - least_width(table, i, step);
	return excess;
}

static void drop_columns(struct row_table *table)
{
	for (size_t i = 0; i < sizeof(drops) / sizeof(*drops); i++) {
		int kind = drops[i].kind;
		if (kind == COLUMN_TOTAL && report_by_total(table->report))
			kind = COLUMN_SELF;
		for (size_t j = table->count; j-- > 0 && least_excess(table, drops[i].step) > 0;)
			if (table->columns[j].kind == kind &&
			    (kind < COLUMN_KEY || is_spare_key(table, j)))
				columns_drop(table, j);
	}
}

void columns_fit(struct row_table *table)
{
	bool terminal = table->term->width > 0;
	for (size_t i = 0; i < table->count; i++) {
		bool number = column_is_number(&table->columns[i]);
		/* In a file, the last column of text needs no width, because nothing follows it. */
		if (!terminal && !number && i + 1 == table->count)
			continue;
		measure(table, i, 0);
		if (!terminal && !number && table->columns[i].width > FILE_NAME)
			table->columns[i].width = FILE_NAME;
	}
	if (!terminal)
		return;
	if (!table->report->column_count || table->view)
		drop_columns(table);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		cut_names(table, i);
	/* Shortened names may be narrower than the column, so measures it again. */
	for (size_t i = 0; i < table->count; i++)
		if (column_is_code(&table->columns[i]))
			measure(table, i, table->columns[i].width);
}
