/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/time_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "out/format_value.h"

/* Widths of lanes' names, and the least width of a terminal for the wide ones. */
#define LABEL 20
#define NARROW_LABEL 10
#define WIDE 80

/* Most lines of the curve of all threads, and lines of the screen for each. */
#define CURVE_ROWS 4
#define ROWS_OF_CURVE 6

/* Fewest columns, and on average samples of a column. */
#define COLUMNS_MIN 40
#define COLUMN_SAMPLES 4

/* Most rows of a heat map, and columns between two times of an axis. */
#define HEAT_ROWS 50
#define TICK 16

void time_view_deinit(struct time_view *view)
{
	for (size_t i = 0; i < view->lanes.count; i++) {
		free(view->lanes.items[i].columns);
		free(view->lanes.items[i].states);
	}
	free(view->lanes.items);
	free(view->weights);
	free(view->samples);
	free(view->losses);
	*view = (struct time_view){0};
}

/* Returns 1, 2 or 5 times a power of ten that is at least `least`: the page's niceStep(). */
static uint64_t nice_step(uint64_t least)
{
	uint64_t unit = 1;
	while (unit * 10 <= least)
		unit *= 10;
	return least <= unit ? unit : least <= 2 * unit ? 2 * unit : least <= 5 * unit ? 5 * unit
										       : 10 * unit;
}

/* Returns the quotient, rounded up. Times of damaged files may be as large as the type. */
static uint64_t divide_up(uint64_t dividend, uint64_t divisor)
{
	return dividend / divisor + (dividend % divisor > 0);
}

/* Chooses the shape: lanes of equal columns, or columns of a round time with rows. */
static void choose_shape(struct time_view *view, const struct sp_timeline *timeline, int room,
			 int count)
{
	uint64_t span_ns = view->end_ns - view->begin_ns, samples = 0;
	uint64_t most = room > 1 ? (uint64_t)room : 1;
	view->rows = 1;
	if (view->heat) {
		uint64_t column_ns = nice_step(divide_up(span_ns, most));
		uint64_t rows = count > HEAT_ROWS ? HEAT_ROWS : count > 1 ? (uint64_t)count : 1;
		uint64_t bins = column_ns / (timeline->width_ns ?: 1);
		rows = rows > bins ? bins ?: 1 : rows;
		/* Rows are equal parts, so that columns stay round. */
		while (column_ns % rows)
			rows--;
		view->width_ns = column_ns / rows;
		view->rows = (size_t)rows;
	} else {
		for (size_t i = 0; i < timeline->cell_count && samples / COLUMN_SAMPLES < most; i++)
			samples += sp_timeline_cell(timeline, i)->samples;
		uint64_t wanted = samples / COLUMN_SAMPLES;
		wanted = wanted < COLUMNS_MIN ? COLUMNS_MIN : wanted;
		most = most > wanted ? wanted : most;
		/* Columns have equal numbers of the timeline's bins. */
		uint64_t bin_ns = timeline->width_ns ?: 1;
		view->width_ns = divide_up(divide_up(span_ns, most), bin_ns) * bin_ns;
	}
	view->columns = (size_t)divide_up(span_ns, view->width_ns * view->rows);
}

/* Returns the index of a time's column and row in `weights`; SIZE_MAX: it is not shown. */
static size_t place_of(const struct time_view *view, uint64_t time_ns)
{
	if (time_ns < view->begin_ns || time_ns >= view->end_ns)
		return SIZE_MAX;
	return (size_t)((time_ns - view->begin_ns) / view->width_ns);
}

/* The column and row that a cell is in: cells are in order of time, and may be a million. */
struct cell_place {
	size_t index; /* in `weights`; SIZE_MAX: not shown */
	uint64_t end_ns;
};

static size_t next_place(const struct time_view *view, struct cell_place *place, uint64_t time_ns)
{
	if (time_ns >= place->end_ns) {
		place->index = place_of(view, time_ns);
		place->end_ns = place->index == SIZE_MAX ? 0 :
				view->begin_ns + (place->index + 1) * view->width_ns;
		place->end_ns = place->end_ns > view->end_ns ? view->end_ns : place->end_ns;
	}
	return place->index;
}

static int compare_lanes(const void *a, const void *b)
{
	const struct time_lane *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Makes the lanes of the busiest threads. `weights` are by thread. */
static void make_lanes(struct time_view *view, const struct time_source *source,
		       const double *weights)
{
	const struct sp_timeline *timeline = source->timeline;
	size_t count = timeline->thread_count;
	LIST(struct time_lane) lanes = {0};
	size_t *lane_of = xmalloc((count + 1) * sizeof(*lane_of));
	for (size_t i = 0; i < count; i++) {
		const struct sp_timeline_thread *thread = sp_timeline_thread(timeline, i);
		lane_of[i] = SIZE_MAX;
		if (weights[i] <= 0)
			continue;
		struct time_lane *lane = list_push(&lanes);
		/* The thread's index, until its lane is chosen. */
		*lane = (struct time_lane){.tid = (int32_t)i, .weight = weights[i]};
		snprintf(lane->name, sizeof(lane->name), "%s %d", thread->comm ?: "?", thread->tid);
		if (thread->tid < 0)
			snprintf(lane->name, sizeof(lane->name), "exited tasks");
	}
	if (lanes.count)
		qsort(lanes.items, lanes.count, sizeof(*lanes.items), compare_lanes);
	lanes.count = lanes.count > TIME_LANES ? TIME_LANES : lanes.count;
	for (size_t i = 0; i < lanes.count; i++) {
		struct time_lane *lane = &lanes.items[i];
		size_t thread = (size_t)lane->tid;
		lane_of[thread] = i;
		lane->tid = sp_timeline_thread(timeline, thread)->tid;
		lane->columns = xcalloc(view->columns + 1, sizeof(*lane->columns));
		lane->states = xcalloc(view->columns + 1, sizeof(*lane->states));
		if (!source->analysis ||
		    !sp_analysis_state_times(source->analysis, thread, view->begin_ns,
					     view->width_ns, view->columns, lane->states)) {
			free(lane->states);
			lane->states = NULL;
		}
	}
	struct cell_place place = {0};
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		size_t column = next_place(view, &place, cell->time_ns);
		size_t lane = lane_of[cell->thread];
		if (column != SIZE_MAX && lane != SIZE_MAX)
			lanes.items[lane].columns[column] += (double)cell->weight;
	}
	free(lane_of);
	view->lanes.items = lanes.items;
	view->lanes.count = lanes.count;
	view->lanes.capacity = lanes.capacity;
}

void time_view_set(struct time_view *view, const struct time_source *source,
		   const struct term *term, int count)
{
	const struct sp_timeline *timeline = source->timeline;
	const struct time_view before = *view;
	uint64_t cursor_ns = time_view_span(view).begin_ns;
	int label = term->width < WIDE ? NARROW_LABEL : LABEL;
	*view = (struct time_view){
		.begin_ns = source->begin_ns,
		.end_ns = source->end_ns > source->begin_ns ? source->end_ns : source->begin_ns + 1,
		.origin_ns = source->origin_ns,
		.heat = before.heat,
		.lane = before.lane,
		.top = before.top,
		.marked = before.marked,
		.mark_ns = before.mark_ns,
		.label = before.heat ? 0 : label,
	};
	choose_shape(view, timeline, term->width - view->label - 1, count - 2);
	size_t places = view->columns * view->rows;
	view->weights = xcalloc(places + 1, sizeof(*view->weights));
	view->samples = xcalloc(places + 1, sizeof(*view->samples));
	view->losses = xcalloc(view->columns + 1, sizeof(*view->losses));
	double *threads = xcalloc(timeline->thread_count + 1, sizeof(*threads));
	struct cell_place at = {0};
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		size_t place = next_place(view, &at, cell->time_ns);
		if (place == SIZE_MAX)
			continue;
		view->weights[place] += (double)cell->weight;
		view->samples[place] += cell->samples;
		threads[cell->thread] += (double)cell->weight;
	}
	for (size_t i = 0; i < timeline->loss_count; i++) {
		size_t place = place_of(view, sp_timeline_loss(timeline, i)->time_ns);
		if (place != SIZE_MAX)
			view->losses[place / view->rows] = true;
	}
	if (!view->heat)
		make_lanes(view, source, threads);
	free(threads);
	struct time_view old = before;
	time_view_deinit(&old);
	size_t cursor = place_of(view, cursor_ns);
	view->cursor = cursor == SIZE_MAX ? 0 : cursor / view->rows;
	view->row = cursor == SIZE_MAX || !view->heat ? 0 : cursor % view->rows;
	time_view_move(view, 0, 0);
}

static size_t moved(size_t from, long by, size_t count)
{
	long to = (long)from + by;
	return to < 0 || !count ? 0 : (size_t)to >= count ? count - 1 : (size_t)to;
}

void time_view_move(struct time_view *view, long columns, long rows)
{
	view->cursor = moved(view->cursor, columns, view->columns);
	if (view->heat)
		view->row = moved(view->row, -rows, view->rows);
	else
		view->lane = moved(view->lane, rows, view->lanes.count);
}

struct sp_time_span time_view_span(const struct time_view *view)
{
	uint64_t begin_ns = view->begin_ns +
			    (uint64_t)(view->cursor * view->rows + view->row) * view->width_ns;
	uint64_t end_ns = begin_ns + view->width_ns;
	return (struct sp_time_span){begin_ns, end_ns < view->end_ns ? end_ns : view->end_ns};
}

bool time_view_point(struct time_view *view, int row, int column)
{
	int at = column - view->label, down = row - view->first_row;
	if (at < 0 || (size_t)at >= view->columns)
		return false;
	view->cursor = (size_t)at;
	if (view->heat && down >= 0 && (size_t)down < view->rows)
		view->row = view->rows - 1 - (size_t)down;
	else if (!view->heat && down >= 0 && view->top + (size_t)down < view->lanes.count)
		view->lane = view->top + (size_t)down;
	return true;
}

/* Returns a bar for a part of the whole, in one of eight heights from `low` on. */
static const char *bar(const struct term *term, double part, double low, double high)
{
	double height = fmax(1, ceil((part - low) / (high - low) * 8 - 0.25));
	return term_bar(term, part <= low ? 0 : part >= high ? 8 : height);
}

/* Begins the style of a cell: a colour of SGR (0: none), reversed at the cursor. */
static void put_style(int colour, bool reversed, FILE *out)
{
	fputs(reversed ? "\033[0;7" : "\033[0", out);
	if (colour)
		fprintf(out, ";%d", colour);
	putc('m', out);
}

/* Writes a line of the curve of all threads; line 0 is the lowest. */
static void put_curve(const struct time_view *view, const struct term *term, int line, int lines,
		      FILE *out)
{
	double most = 0, low = (double)line / lines, high = (double)(line + 1) / lines;
	for (size_t i = 0; i < view->columns; i++)
		most = fmax(most, view->weights[i]);
	for (size_t i = 0; i < view->columns; i++) {
		double part = most > 0 ? view->weights[i] / most : 0;
		put_style(36, i == view->cursor, out);
		fputs(bar(term, part, low, high), out);
	}
}

/* Writes the states of a thread in a column: its time on a CPU as a height, or its other state. */
static void put_states(const struct sp_thread_times *times, const struct term *term,
		       bool reversed, FILE *out)
{
	uint64_t off_ns = times->runnable_ns + times->blocked_ns + times->unknown_ns;
	uint64_t all_ns = times->running_ns + off_ns;
	int colour = times->running_ns >= all_ns / 2		 ? 32
		     : times->runnable_ns >= times->blocked_ns ? 33
							       : 34;
	put_style(all_ns ? colour : 0, reversed, out);
	if (times->running_ns)
		fputs(bar(term, (double)times->running_ns / (double)all_ns, 0, 1), out);
	else if (!all_ns)
		putc(' ', out);
	else if (times->unknown_ns > times->runnable_ns + times->blocked_ns)
		putc('?', out);
	else
		fputs(times->runnable_ns >= times->blocked_ns ? term_glyph(term, "▒", "r")
							      : term_glyph(term, "·", "b"),
		      out);
}

static void put_lane(const struct time_view *view, const struct term *term, size_t index,
		     double most, FILE *out)
{
	const struct time_lane *lane = &view->lanes.items[index];
	put_style(0, index == view->lane, out);
	int used = term_put(term, lane->name, view->label - 1, out);
	term_pad(view->label - 1 - used, out);
	fputs("\033[0m ", out);
	for (size_t i = 0; i < view->columns; i++) {
		bool reversed = i == view->cursor;
		if (lane->states) {
			put_states(&lane->states[i], term, reversed, out);
			continue;
		}
		put_style(0, reversed, out);
		fputs(bar(term, most > 0 ? lane->columns[i] / most : 0, 0, 1), out);
	}
}

/* Writes a row of the heat map; row 0 is the lowest. */
static void put_heat(const struct time_view *view, const struct term *term, size_t row, FILE *out)
{
	static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
	static const char *const plain[] = {" ", ".", "+", "*", "#"};
	double most = 0;
	for (size_t i = 0; i < view->columns * view->rows; i++)
		most = fmax(most, view->weights[i]);
	for (size_t i = 0; i < view->columns; i++) {
		double weight = view->weights[i * view->rows + row];
		size_t level = weight > 0 ? (size_t)fmax(1, ceil(weight / most * 4 - 0.25)) : 0;
		put_style(36, i == view->cursor && row == view->row, out);
		fputs((term->utf8 ? shades : plain)[level], out);
	}
}

/* Writes times below the columns, and marks of losses and of the range's begin. */
static void put_axis(const struct time_view *view, FILE *out)
{
	uint64_t column_ns = view->width_ns * view->rows;
	size_t room = view->columns, mark = view->marked ? place_of(view, view->mark_ns) : SIZE_MAX;
	int decimals = column_ns * TICK < 100000000 ? 6 : 3;
	for (size_t i = 0; i < room;) {
		char text[64];
		double seconds = ((double)view->begin_ns - (double)view->origin_ns +
				  (double)(i * column_ns)) / 1e9;
		int used = i % TICK ? 0
				    : snprintf(text, sizeof(text), "|%.*f s", decimals,
					       seconds > 0 ? seconds : 0);
		bool clear = used && i + (size_t)used < room;
		for (size_t j = i; clear && j < i + (size_t)used; j++)
			clear = !view->losses[j] && j != mark / view->rows;
		if (clear)
			fputs(text, out);
		else
			putc(i == mark / view->rows ? '[' : view->losses[i] ? '!' : ' ', out);
		i += clear ? (size_t)used : 1;
	}
}

/* Draws what was written to `text`. */
static void draw_line(struct screen *screen, int row, char **text, FILE *out)
{
	text_stream_close(out, text);
	screen_line(screen, row, 0, *text, false);
	free(*text);
}

void time_view_draw(struct time_view *view, struct screen *screen, int first, int count)
{
	const struct term term = screen_term(screen);
	int curve = count / ROWS_OF_CURVE;
	char *text;
	size_t size;
	double most = 0;
	curve = view->heat ? 0 : curve < 1 ? 1 : curve > CURVE_ROWS ? CURVE_ROWS : curve;
	size_t rows = count > curve + 1 ? (size_t)(count - curve - 1) : 0;
	view->first_row = first + curve;
	for (int i = curve - 1; i >= 0; i--) {
		FILE *out = text_stream_open(&text, &size);
		fprintf(out, "%-*.*s", view->label, view->label, i ? "" : "all threads");
		put_curve(view, &term, i, curve, out);
		draw_line(screen, first + curve - 1 - i, &text, out);
	}
	if (view->lane < view->top)
		view->top = view->lane;
	if (rows && view->lane >= view->top + rows)
		view->top = view->lane - rows + 1;
	for (size_t i = 0; i < view->lanes.count; i++)
		for (size_t j = 0; j < view->columns; j++)
			most = fmax(most, view->lanes.items[i].columns[j]);
	size_t lines = view->heat ? view->rows : view->lanes.count - view->top;
	lines = lines > rows ? rows : lines;
	for (size_t i = 0; i < lines; i++) {
		FILE *out = text_stream_open(&text, &size);
		if (view->heat)
			put_heat(view, &term, view->rows - 1 - i, out);
		else
			put_lane(view, &term, view->top + i, most, out);
		draw_line(screen, view->first_row + (int)i, &text, out);
	}
	FILE *out = text_stream_open(&text, &size);
	term_pad(view->label, out);
	put_axis(view, out);
	draw_line(screen, view->first_row + (int)lines, &text, out);
}
