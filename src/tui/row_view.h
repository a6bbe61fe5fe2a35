/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View of an event's rows: the table of the text report. Its rows unfold to callers or callees. */
#ifndef TUI_ROW_VIEW_H
#define TUI_ROW_VIEW_H

#include "list.h"
#include "out/columns.h"
#include "tui/screen.h"

/* A line: a row of the table, or a node of the call tree below it. */
struct row_view_line {
	const struct table_line *cells;	 /* the row, or that which the node belongs to */
	const struct sp_tree_node *node; /* NULL: the row itself */
	unsigned int depth;		 /* 0: the row */
	uint64_t bars;			 /* bit N: the ancestor at depth N has further siblings */
	bool chain;			 /* the only child of the line before, and not indented */
	bool last;			 /* the last child */
	bool open;
};

struct row_view {
	const struct report *report;
	const struct sp_profile *profile;
	struct row_table table;
	struct table_line *cells; /* all rows, in the shown order */
	LIST(struct row_view_line) lines;
	char *constants;      /* text: keys that have one value in all rows */
	double most;	      /* greatest share of a row, for bars */
	int bar;	      /* width of bars */
	size_t selected, top; /* indexes of lines */
	int first_row;	      /* row of the screen with the line `top` */
	double least;	      /* rows with a smaller share are not shown */
	bool all_dsos;	      /* nodes have their dso even if it is the row's */
};

void row_view_deinit(struct row_view *rows);

/* Sets the rows, in the report's order, and keeps `all_dsos`. row_view_fit() must follow. */
void row_view_set(struct row_view *rows, const struct report *report,
		  const struct sp_profile *profile);

/*
 * Shows only rows with a text that contains `text`, in any case, and folds all. NULL: all rows that
 * have the least share.
 */
void row_view_search(struct row_view *rows, const char *text);

/* Returns the selected line; NULL: there is none. */
const struct row_view_line *row_view_selected(const struct row_view *rows);

/* Returns the name of the function or symbol of a row; NULL: rows have none. */
const char *row_view_function(const struct sp_row *row);

/*
 * Unfolds the selected line. `node` is that of the row's function, if a row is selected. Callees
 * and callers that are the only ones are unfolded, too.
 */
void row_view_unfold(struct row_view *rows, const struct sp_tree_node *node);

/* Folds the selected line, or else the line that it is below. Returns false if there was nothing to
 * fold. */
bool row_view_fold(struct row_view *rows);
void row_view_fold_all(struct row_view *rows);

/* Moves the selection by a number of lines. */
void row_view_move(struct row_view *rows, long lines);

/* Computes the columns and their widths for a terminal. */
void row_view_fit(struct row_view *rows, const struct term *term);

/* Draws titles and lines on `count` screen lines from `first`. */
void row_view_draw(struct row_view *rows, struct screen *screen, int first, int count);

#endif
