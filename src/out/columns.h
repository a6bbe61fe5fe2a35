/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns of the table of rows: which there are, what their cells say, how wide they are. */
#ifndef OUT_COLUMNS_H
#define OUT_COLUMNS_H

#include "out/format.h"
#include "out/output.h"

enum column_kind {
	COLUMN_TOTAL,
	COLUMN_TOTAL_RANGE,
	COLUMN_SELF,
	COLUMN_SELF_RANGE,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_EVENT, /* share of an event of the group, by its index: self or total, as rows are ordered */
	COLUMN_EVENT_RANGE,
	COLUMN_RATIO,
	COLUMN_RATIO_RANGE,
	COLUMN_KEY, /* plus enum sp_key */
};

#define COLUMN_GAP 2

/* Suffix of a function that exists only in its callers. */
#define COLUMN_INLINED " (inlined)"

struct column {
	int kind; /* enum column_kind */
	size_t index; /* index of the event or ratio */
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
	const struct cells *rows;
	size_t row_count;
	int decimals; /* decimals of intervals */
	struct column *columns;
	size_t count;
};

bool column_is_number(const struct column *column);

/* Symbols and functions; the latter are sides if each has a level of its own. */
bool column_is_code(const struct column *column);
bool column_is_side(const struct column *column);

const char *column_title(const struct table *table, const struct column *column);

/* The cell's text: in `buffer`, or a string of the row's; NULL: not known. */
const char *cell_text(const struct table *table, const struct cells *cells,
		      const struct column *column, char buffer[FORMAT_SIZE]);

/* Share of a group's event that the row has. */
const struct sp_share *event_share(const struct table *table, const struct cells *cells,
				   size_t index);

/* Width of "[k] " before the text: of the first column of code, and of sides. */
int cell_prefix_width(const struct table *table, size_t index);

/* Width of COLUMN_INLINED, or 0. */
int cell_suffix_width(const struct sp_row *row, const struct column *column);

/* Sets the table's columns, for the caller to free. False when out of memory. */
bool columns_choose(struct table *table);

/* Whether a key has the same text in all rows (if there are several). */
bool column_is_constant(const struct table *table, const struct column *column);

/* Removes a column. */
void columns_drop(struct table *table, size_t index);

/* Sets the widths, so that the table fits the terminal. False when out of memory. */
bool columns_fit(struct table *table);

#endif
