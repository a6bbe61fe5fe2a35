/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of the table of rows: their kinds, texts and widths. */
#ifndef OUT_COLUMNS_H
#define OUT_COLUMNS_H

#include "out/format_value.h"
#include "out/output.h"

enum column_kind {
	COLUMN_TOTAL,
	COLUMN_TOTAL_RANGE,
	COLUMN_SELF,
	COLUMN_SELF_RANGE,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_ON,
	COLUMN_RUNNABLE,
	COLUMN_BLOCKED,
	COLUMN_WAITS,
	COLUMN_LONGEST,
	COLUMN_EVENT, /* share of the group's event `index`: self or total, as rows are ordered */
	COLUMN_EVENT_RANGE,
	COLUMN_RATIO,
	COLUMN_RATIO_RANGE,
	COLUMN_KEY, /* COLUMN_KEY + i is the column of enum sp_key i */
};

#define COLUMN_GAP 2

/* Suffix of a function that has no code of its own: it is inlined into all callers. */
#define COLUMN_INLINED " (inlined)"

struct column {
	int kind; /* enum column_kind, or COLUMN_KEY + a key */
	size_t index; /* index of the group's event or ratio */
	int width;
};

/* One line of the table: a row of one event, or a row of an event group (then `joint` is not NULL). */
struct table_line {
	const struct sp_row *row;
	const struct sp_joint_row *joint;
};

struct row_table {
	const struct report *report;
	const struct term *term;
	bool branches; /* rows count branches instead of samples */
	const struct joint_view *view; /* event group; NULL: the table is of one event */
	const struct table_line *rows;
	size_t row_count;
	int decimals; /* decimals of intervals */
	struct column *columns;
	size_t count;
};

bool column_is_number(const struct column *column);

/* Returns a row's text of a key; NULL: unknown. */
const char *key_text(const struct sp_row *row, enum sp_key key, char buffer[FORMAT_SIZE]);

/*
 * Returns whether the column shows symbols or functions. column_is_side(): a symbol other than the
 * sampled one, of a branch's source or target or of a data address.
 */
bool column_is_code(const struct column *column);
bool column_is_side(const struct column *column);

/*
 * Returns the character from which on a text is never cut, such as that before a line's number; 0:
 * any text may be cut.
 */
char column_mark(const struct column *column);

const char *column_title(const struct row_table *table, const struct column *column);

/* Returns the cell's text, in `buffer` or borrowed from the row; NULL: unknown. */
const char *cell_text(const struct row_table *table, const struct table_line *cells,
		      const struct column *column, char buffer[FORMAT_SIZE]);

/* Returns the row's share of one event of the group. */
const struct sp_share *event_share(const struct row_table *table, const struct table_line *cells,
				   size_t index);

/*
 * Returns the width of the privilege level ("[k] ") before the column's texts; 0 if the column has
 * none.
 */
int column_level_width(const struct row_table *table, size_t index);

/* Returns the width of COLUMN_INLINED if the row has this suffix, else 0. */
int cell_suffix_width(const struct sp_row *row, const struct column *column);

/* Sets table->columns; the caller frees them. */
void columns_choose(struct row_table *table);

/*
 * Returns whether the column is a key other than code, the table has several rows, and all have the
 * same text.
 */
bool column_is_constant(const struct row_table *table, const struct column *column);

void columns_drop(struct row_table *table, size_t index);

/* Sets the columns' widths so that the table fits the terminal. */
void columns_fit(struct row_table *table);

#endif
