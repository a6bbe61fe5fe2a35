/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the parts of the screen that all views have. */
#include "memory.h"
#include "tui/browse_state.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "out/table.h"
#include "out/time_line.h"

uint64_t browse_first_ns(const struct browse *browse)
{
	const struct timeline *timeline = level_report(browse->levels[0])->timeline;
	return timeline ? timeline->first_ns : 0;
}

void browse_note(struct browse *browse, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(browse->message, sizeof(browse->message), format, arguments);
	va_end(arguments);
}

/* Least rows of a screen for two lines about the event. */
#define TALL_ROWS 20

/* Most lines of a message. */
#define MESSAGE_LINES 3

int browse_draw_lines(struct browse *browse, int row, int count, const char *text)
{
	int drawn = 0;
	while (drawn < count && *text) {
		screen_line(browse->screen, row + drawn++, 0, text, false);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return drawn;
}

void browse_draw_plain(struct browse *browse, int row, int column, const char *text, bool marked)
{
	const struct term term = screen_term(browse->screen);
	char *safe;
	size_t size;
	FILE *out = text_stream_open(&safe, &size);
	term_put(&term, text, term.width - column, out);
	text_stream_close(out, &safe);
	screen_line(browse->screen, row, column, safe, marked);
	free(safe);
}

/* Draws the recording and the command, and on the right the event. */
static void draw_title(struct browse *browse)
{
	struct level *level = browse_current(browse);
	struct report report = *level_report(level);
	const struct term term = screen_term(browse->screen);
	char event[96], *title;
	size_t size;
	snprintf(event, sizeof(event), " %s [%zu/%zu]", level_profile(level)->event,
		 level->profile + 1, report.profile_count);
	int width = term_text_width(&term, event), column = term.width - width;
	column = column < term.width / 2 ? term.width / 2 : column;
	report.term = term;
	report.term.colour = false;
	report.term.width = column;
	FILE *out = text_stream_open(&title, &size);
	report_write_title(&report, out);
	text_stream_close(out, &title);
	screen_line(browse->screen, 0, 0, title, true);
	free(title);
	browse_draw_plain(browse, 0, column, event, true);
}

/* Draws the event's counts. Returns the number of lines. */
static int draw_event(struct browse *browse, int row)
{
	struct level *level = browse_current(browse);
	char *text;
	size_t size;
	FILE *out = text_stream_open(&text, &size);
	level_report(level)->term = screen_term(browse->screen);
	report_write_event(level_report(level), level_profile(level), out);
	text_stream_close(out, &text);
	int most = screen_rows(browse->screen) < TALL_ROWS ? 1 : 2;
	int drawn = browse_draw_lines(browse, row, most, text);
	free(text);
	return drawn;
}

static void write_strings(const char *name, const struct option_strings *strings, FILE *out)
{
	for (size_t i = 0; i < strings->count; i++)
		fprintf(out, " %s %s", name, strings->items[i]);
}

static void write_numbers(const char *name, const struct option_numbers *numbers, FILE *out)
{
	for (size_t i = 0; i < numbers->count; i++)
		fprintf(out, " %s %d", name, numbers->items[i]);
}

/* Writes the filters of the level, which are options of `sprof report`. */
static void write_filters(const struct browse *browse, FILE *out)
{
	const struct level *level = browse_current(browse);
	const struct selection *selection = &level->arguments.selection;
	const struct time_range *time = &selection->times.items[0];
	uint64_t base_ns = time->begin.kind == MOMENT_CLOCK ? browse_first_ns(browse) : 0;
	fputs("filter:", out);
	write_strings("comm", &selection->comms, out);
	write_strings("dso", &selection->dsos, out);
	write_strings("function", &selection->symbols, out);
	write_strings("stacks with", &selection->focus, out);
	write_numbers("process", &selection->pids, out);
	write_numbers("thread", &selection->tids, out);
	if (level->has_time)
		fprintf(out, " time %+.3f s to %+.3f s",
			((double)time->begin.ns - (double)base_ns) / 1e9,
			((double)time->end.ns - (double)base_ns) / 1e9);
	if (level->has_mode)
		fprintf(out, " mode %s", sp_mode_name((enum sp_mode)level->arguments.mode));
	if (level->rows.least > 0)
		fprintf(out, " rows from %g%%", 100 * level->rows.least);
}

/* Draws the filters, and the keys that are equal in all rows. */
static void draw_filters(struct browse *browse, int row)
{
	struct level *level = browse_current(browse);
	const struct selection *selection = &level->arguments.selection;
	bool any = selection->comms.count || selection->dsos.count || selection->tids.count ||
		   selection->pids.count || selection->symbols.count || selection->focus.count ||
		   level->has_time || level->has_mode || level->rows.least > 0;
	char *text;
	size_t size;
	FILE *out = text_stream_open(&text, &size);
	if (any)
		write_filters(browse, out);
	fprintf(out, "%s%.*s", any ? "  " : "", (int)strcspn(level->rows.constants, "\n"),
		level->rows.constants);
	text_stream_close(out, &text);
	browse_draw_plain(browse, row, 0, text, false);
	free(text);
}

/* Draws the message on the last lines of the screen. */
static void draw_message(struct browse *browse, int last)
{
	const struct term term = screen_term(browse->screen);
	char *text;
	size_t size;
	int lines = 0;
	FILE *out = text_stream_open(&text, &size);
	term_wrap(&term, browse->message, 0, 0, MESSAGE_LINES, out);
	text_stream_close(out, &text);
	for (const char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n'))
		lines++;
	const char *line = text;
	for (int row = last - lines + 1; row <= last; row++) {
		screen_line(browse->screen, row, 0, line, true);
		line = strchr(line, '\n') + 1;
	}
	free(text);
}

/* Draws the view's most important keys that have room. Two blanks separate them. */
static void draw_hint(struct browse *browse, int last, const char *hint)
{
	size_t width = (size_t)screen_term(browse->screen).width, end = strlen(hint);
	while (end > width) {
		while (end && strncmp(hint + end - 1, "  ", 2) != 0)
			end--;
		end -= end > 0;
	}
	char *text = xasprintf("%.*s", (int)end, hint);
	browse_draw_plain(browse, last, 0, text, true);
	free(text);
}

void browse_draw(struct browse *browse)
{
	const struct browse_view *view = browse_view(browse);
	const char *search = browse_current(browse)->search;
	int row = 1, last = screen_rows(browse->screen) - 1;
	char line[128];
	screen_clear(browse->screen);
	draw_title(browse);
	if (!view->is_text) {
		row += draw_event(browse, row);
		draw_filters(browse, row++);
	}
	view->draw(browse, row, last - row);
	snprintf(line, sizeof(line), "/%s", search);
	if (browse->sets_limit)
		snprintf(line, sizeof(line), "least percentage of rows: %s", browse->limit);
	bool edits = browse->searches || browse->sets_limit;
	if (edits || (*search && !*browse->message && view->searches))
		browse_draw_plain(browse, last, 0, line, !edits);
	else if (*browse->message)
		draw_message(browse, last);
	else
		draw_hint(browse, last, view->hint);
	const struct term term = screen_term(browse->screen);
	screen_update(browse->screen, edits ? last : -1, term_text_width(&term, line));
}
