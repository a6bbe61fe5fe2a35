/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timeline of an event: a curve of all threads, and a lane for each, as the page has them
 * (html/strip.js); or a heat map: its rows are parts of a column's time.
 */
#ifndef TUI_TIME_VIEW_H
#define TUI_TIME_VIEW_H

#include <sprof/sprof.h>
#include "list.h"
#include "tui/screen.h"

/* Most lanes; threads with less weight have none. */
#define TIME_LANES 200

struct time_lane {
	char name[64];
	int32_t tid; /* -1: exited tasks, which the kernel does not distinguish */
	double weight;
	double *columns;		/* weight by column */
	struct sp_thread_times *states; /* by column; NULL: unknown */
};

/* A zeroed struct is empty. */
struct time_view {
	uint64_t begin_ns, end_ns; /* shown time, by the timeline's clock; end_ns is excluded */
	uint64_t origin_ns;	   /* time that is shown as 0 */
	uint64_t width_ns;	   /* width of a column, or of a cell of the heat map */
	size_t columns, rows;	   /* rows: of the heat map; lanes have one */
	double *weights;	   /* by column and row, of all threads */
	uint64_t *samples;	   /* the same */
	bool *losses;		   /* by column: samples were lost */
	LIST(struct time_lane) lanes;
	bool heat;
	size_t cursor, row;	  /* column and row */
	size_t lane, top;	  /* selected and first drawn lane */
	bool marked;		  /* a range begins at mark_ns */
	uint64_t mark_ns;
	int first_row, label; /* place of the lanes, and width of their names */
};

/* Content of a timeline. */
struct time_source {
	const struct sp_analysis *analysis; /* has the states; NULL: unknown */
	const struct sp_timeline *timeline;
	uint64_t begin_ns, end_ns; /* shown time; the end is exclusive */
	uint64_t origin_ns;
};

void time_view_deinit(struct time_view *view);

/* Makes columns and lanes for `count` lines of a terminal. The cursor stays at its time. */
void time_view_set(struct time_view *view, const struct time_source *source,
		   const struct term *term, int count);

/* Moves the cursor by columns, and by lanes or rows. */
void time_view_move(struct time_view *view, long columns, long rows);

/* Returns the time of the column or cell at the cursor. */
struct sp_time_span time_view_span(const struct time_view *view);

/* Moves the cursor to a place of the screen. Returns false if there is no column. */
bool time_view_point(struct time_view *view, int row, int column);

/*
 * Draws in `count` lines from row `first`. Scrolls to the selected lane, and keeps the place for
 * time_view_point().
 */
void time_view_draw(struct time_view *view, struct screen *screen, int first, int count);

#endif
