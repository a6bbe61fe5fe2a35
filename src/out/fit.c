/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Widths of the table's columns. On a terminal, names are cut until the table fits. In a file nothing
 * is cut: a name that is wider than its column only shifts the rest of its line.
 */
#include "out/columns.h"

#include <stdlib.h>

/* Maximum width of a column of names in a file; the last column has none. */
#define FILE_NAME 60

/* Widths to which names are cut, in steps: each step is applied only if the table is still too wide. */
static const struct {
	int symbol, name;
} steps[] = {{40, 18 /* width of "[kernel.kallsyms]" */}, {28, 12}, {24, 8}};
#define BARE_SYMBOL 12
#define BARE_NAME 3

/*
 * Returns the width of a cell if its name is cut to `room` columns (0: not cut); -1 when out of memory.
 */
static int cell_width(const struct table *table, const struct cells *cells, size_t index, int room)
{
	const struct column *column = &table->columns[index];
	char buffer[FORMAT_SIZE], *made = NULL;
	const char *text = cell_text(table, cells, column, buffer);
	int affixes = column_level_width(table, index) + cell_suffix_width(cells->row, column);
	if (text && column_is_code(column)) {
		text = name_shorten(table->term, text, room > affixes ? room - affixes : room, &made);
		if (!text)
			return -1;
	}
	int width = affixes + (text ? term_text_width(table->term, text) : 1);
	free(made);
	return width;
}

/* Sets a column's width to its widest cell, at most `room` (0: no limit). False when out of memory. */
static bool measure(struct table *table, size_t index, int room)
{
	struct column *column = &table->columns[index];
	column->width = term_text_width(table->term, column_title(table, column));
	for (size_t i = 0; i < table->row_count; i++) {
		int width = cell_width(table, &table->rows[i], index, room);
		if (width < 0)
			return false;
		if (room && width > room)
			width = room;
		if (width > column->width)
			column->width = width;
	}
	return true;
}

/*
 * Narrows a column by up to `excess` columns of the terminal, but not below `least`. Returns the excess
 * that remains.
 */
static int give_way(struct column *column, int least, int excess)
{
	int spare = column->width - least;
	if (spare <= 0 || excess <= 0)
		return excess;
	int given = spare < excess ? spare : excess;
	column->width -= given;
	return excess - given;
}

/* Returns by how many columns the table is wider than the terminal. */
static int table_excess(const struct table *table)
{
	int excess = -COLUMN_GAP - table->term->width;
	for (size_t i = 0; i < table->count; i++)
		excess += table->columns[i].width + COLUMN_GAP;
	return excess;
}

static void cut_names(struct table *table, int least_symbol, int least_name)
{
	int excess = table_excess(table);
	for (size_t i = table->count; i-- > 0;)
		if (!column_is_number(&table->columns[i]) && !column_is_code(&table->columns[i]))
			excess = give_way(&table->columns[i], least_name, excess);
	for (size_t i = 0; i < table->count; i++)
		if (column_is_code(&table->columns[i]))
			excess = give_way(&table->columns[i], least_symbol, excess);
}

static void drop_kind(struct table *table, int kind)
{
	for (size_t i = table->count; i-- > 0 && table_excess(table) > 0;)
		if (table->columns[i].kind == kind)
			columns_drop(table, i);
}

bool columns_fit(struct table *table)
{
	bool terminal = table->term->width > 0;
	for (size_t i = 0; i < table->count; i++) {
		bool number = column_is_number(&table->columns[i]);
		/* In a file, the last column of text needs no width, because nothing follows it. */
		if (!terminal && !number && i + 1 == table->count)
			continue;
		if (!measure(table, i, 0))
			return false;
		if (!terminal && !number && table->columns[i].width > FILE_NAME)
			table->columns[i].width = FILE_NAME;
	}
	if (!terminal)
		return true;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		cut_names(table, steps[i].symbol, steps[i].name);
		if (!table->report->column_count) {
			drop_kind(table, COLUMN_LONGEST);
			drop_kind(table, COLUMN_WAITS);
		}
	}
	drop_kind(table, report_by_total(table->report) ? COLUMN_SELF : COLUMN_TOTAL);
	drop_kind(table, COLUMN_EVENT_RANGE);
	cut_names(table, BARE_SYMBOL, BARE_NAME);
	/* Shortened names may be narrower than the column, so measures it again. */
	for (size_t i = 0; i < table->count; i++)
		if (column_is_code(&table->columns[i]) &&
		    !measure(table, i, table->columns[i].width))
			return false;
	return true;
}
