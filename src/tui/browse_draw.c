/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws the browser's views. */
#include "tui/browse_state.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "out/table.h"

void browse_note(struct browse *browse, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(browse->message, sizeof(browse->message), format, arguments);
	va_end(arguments);
}

void browse_resize(struct browse *browse)
{
	struct level *level = browse_current(browse);
	struct report *report = level_report(level);
	report->term = screen_term(browse->screen);
	browse->failed |= !row_view_fit(&level->rows, &report->term);
}

/* Least rows of a screen for two lines about the event. */
#define TALL_ROWS 20

/* Draws what `write` writes, at most `count` lines, from a row of the screen. Returns the lines
 * drawn. */
static int draw_lines(struct browse *browse, int row, int count, const char *text)
{
	int drawn = 0;
	while (drawn < count && *text) {
		screen_line(browse->screen, row + drawn++, 0, text, false);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return drawn;
}

/* Draws a line of plain text of unknown origin. */
static void draw_plain(struct browse *browse, int row, int column, const char *text, bool marked)
{
	const struct term term = screen_term(browse->screen);
	char *safe = NULL;
	size_t size;
	FILE *out = open_memstream(&safe, &size);
	if (out)
		term_put(&term, text, term.width - column, out);
	if (out && !fclose(out))
		screen_line(browse->screen, row, column, safe, marked);
	free(safe);
}

/* Draws the recording and the command, and on the right the event. */
static void draw_title(struct browse *browse)
{
	struct level *level = browse_current(browse);
	struct report report = *level_report(level);
	const struct term term = screen_term(browse->screen);
	char event[96], *title = NULL;
	size_t size;
	snprintf(event, sizeof(event), " %s [%zu/%zu]", level_profile(level)->event,
		 level->profile + 1, report.profile_count);
	int width = term_text_width(&term, event), column = term.width - width;
	column = column < term.width / 2 ? term.width / 2 : column;
	report.term = term;
	report.term.colour = false;
	report.term.width = column;
	FILE *out = open_memstream(&title, &size);
	if (out)
		report_write_title(&report, out);
	if (out && !fclose(out))
		screen_line(browse->screen, 0, 0, title, true);
	free(title);
	draw_plain(browse, 0, column, event, true);
}

/* Draws the event's counts. Returns the number of lines. */
static int draw_event(struct browse *browse, int row)
{
	struct level *level = browse_current(browse);
	char *text = NULL;
	size_t size;
	int drawn = 0;
	FILE *out = open_memstream(&text, &size);
	level_report(level)->term = screen_term(browse->screen);
	if (out)
		report_write_event(level_report(level), level_profile(level), out);
	if (out && !fclose(out))
		drawn = draw_lines(browse, row, screen_rows(browse->screen) < TALL_ROWS ? 1 : 2,
				   text);
	free(text);
	return drawn;
}

/* Writes the filters of the level, which are options of `sprof report`. */
static void write_filters(const struct level *level, FILE *out)
{
	const struct selection *selection = &level->arguments.selection;
	fputs("filter:", out);
	for (size_t i = 0; i < selection->comms.count; i++)
		fprintf(out, " comm %s", selection->comms.items[i]);
	for (size_t i = 0; i < selection->dsos.count; i++)
		fprintf(out, " dso %s", selection->dsos.items[i]);
	for (size_t i = 0; i < selection->tids.count; i++)
		fprintf(out, " thread %d", selection->tids.items[i]);
}

/* Draws the filters, and the keys that are equal in all rows. */
static void draw_filters(struct browse *browse, int row)
{
	struct level *level = browse_current(browse);
	const struct selection *selection = &level->arguments.selection;
	bool any = selection->comms.count || selection->dsos.count || selection->tids.count;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out && any)
		write_filters(level, out);
	if (out)
		fprintf(out, "%s%.*s", any ? "  " : "", (int)strcspn(level->rows.constants, "\n"),
			level->rows.constants);
	if (out && !fclose(out))
		draw_plain(browse, row, 0, text, false);
	free(text);
}

static void draw_empty(struct browse *browse, int row, int count)
{
	struct level *level = browse_current(browse);
	char *text = NULL;
	size_t size;
	if (*level->search && level_profile(level)->row_count) {
		draw_plain(browse, row, 0, "No row contains this text; Esc shows all rows.", false);
		return;
	}
	FILE *out = open_memstream(&text, &size);
	if (out)
		report_write_empty(level_report(level), level_profile(level), out);
	if (out && !fclose(out))
		draw_lines(browse, row, count, text);
	free(text);
}

static void draw_rows(struct browse *browse)
{
	struct level *level = browse_current(browse);
	int row = 1, rows = screen_rows(browse->screen);
	row += draw_event(browse, row);
	draw_filters(browse, row++);
	if (level->rows.lines.count)
		browse->failed |= !row_view_draw(&level->rows, browse->screen, row, rows - row - 1);
	else
		draw_empty(browse, row, rows - row - 1);
}

static void draw_text(struct browse *browse)
{
	const char *text = browse->text;
	for (size_t i = 0; i < browse->text_top; i++) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	draw_plain(browse, 1, 0, browse->text_title, false);
	draw_lines(browse, 3, screen_rows(browse->screen) - 4, text);
}

void browse_draw(struct browse *browse)
{
	struct level *level = browse_current(browse);
	int last = screen_rows(browse->screen) - 1;
	char line[128];
	screen_clear(browse->screen);
	draw_title(browse);
	if (browse->view == VIEW_ROWS)
		draw_rows(browse);
	else
		draw_text(browse);
	snprintf(line, sizeof(line), "/%s", level->search);
	const char *keys = browse->view == VIEW_ROWS ? "q quit  ? help  Enter unfold  / search  o "
						       "order  d n t filter  z undo  w limits"
						     : "Esc back  q quit  ? help";
	if (browse->searches || (*level->search && !*browse->message && browse->view == VIEW_ROWS))
		draw_plain(browse, last, 0, line, !browse->searches);
	else
		draw_plain(browse, last, 0, *browse->message ? browse->message : keys, true);
	const struct term term = screen_term(browse->screen);
	screen_update(browse->screen, browse->searches ? last : -1, term_text_width(&term, line));
}
