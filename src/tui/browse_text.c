/* SPDX-License-Identifier: GPL-2.0-or-later */
/* View of a text that the text commands print, too. */
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"

/* Lines above the text: its title, and an empty one. */
#define HEAD_LINES 2

static void move_text(struct browse *browse, long lines)
{
	size_t count = 0;
	for (const char *at = browse->text.text; *at; at++)
		count += *at == '\n';
	long top = (long)browse->text.top + lines;
	browse->text.top = top < 0 || !count ? 0 : (size_t)top >= count ? count - 1 : (size_t)top;
}

/* Makes the text, for the present width. */
static bool fit_text(struct browse *browse)
{
	size_t size;
	free(browse->text.text);
	browse->text.hot.count = 0;
	FILE *out = text_stream_open(&browse->text.text, &size);
	browse->text.write(browse, out);
	text_stream_close(out, &browse->text.text);
	/* A wider screen has fewer lines. */
	move_text(browse, 0);
	return true;
}

static const char *skip_lines(const char *text, size_t count)
{
	for (; count; count--) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

static void draw_text(struct browse *browse, int row, int count)
{
	const char *text = skip_lines(browse->text.text, browse->text.top);
	browse_draw_plain(browse, row, 0, browse->text.title, false);
	row += HEAD_LINES;
	count -= HEAD_LINES;
	browse_draw_lines(browse, row, count, text);
	if (browse->text.place >= browse->text.hot.count || count < 1)
		return;
	size_t marked = browse->text.hot.items[browse->text.place].line;
	if (marked < browse->text.top || marked >= browse->text.top + (size_t)count)
		return;
	marked -= browse->text.top;
	screen_line(browse->screen, row + (int)marked, 0, skip_lines(text, marked), true);
}

/* Shows the hot line at a place in the list, with some lines before it. */
static void show_hot(struct browse *browse, size_t place)
{
	struct browse_text *text = &browse->text;
	size_t before = (size_t)screen_rows(browse->screen) / 3;
	if (place >= text->hot.count) {
		browse_note(browse, text->hot.count ? "there is no other line with samples"
						    : "this text has no lines with samples");
		return;
	}
	text->place = place;
	size_t line = text->hot.items[place].line;
	text->top = line > before ? line - before : 0;
}

static void show_hottest(struct browse *browse)
{
	show_hot(browse, 0);
}

static void show_next_hot(struct browse *browse)
{
	show_hot(browse, browse->text.place + 1);
}

static void show_previous_hot(struct browse *browse)
{
	/* Before the first is none. */
	show_hot(browse, browse->text.place ? browse->text.place - 1 : SIZE_MAX);
}

static const struct binding text_keys[] = {
	{SCREEN_KEY_ESCAPE, "Esc, Left, Enter", "back", browse_close},
	{SCREEN_KEY_LEFT, NULL, NULL, browse_close},
	{SCREEN_KEY_ENTER, NULL, NULL, browse_close},
	{'\t', "Tab", "in code: the next hottest instruction", show_next_hot},
	{SCREEN_KEY_BACK_TAB, "Shift-Tab", "in code: the one before", show_previous_hot},
	{'H', "H", "in code: the hottest instruction", show_hottest},
	{0, NULL, NULL, NULL},
};

const struct browse_view browse_text_view = {
	.name = "keys of texts",
	.hint = "Esc back  q quit  ? help",
	.keys = text_keys,
	.draw = draw_text,
	.move = move_text,
	.fit = fit_text,
	.is_text = true,
};

void browse_show_text(struct browse *browse, const char *title,
		      void (*write)(struct browse *browse, FILE *out))
{
	browse->text.title = title;
	browse->text.write = write;
	browse->text.top = 0;
	browse->text.place = 0;
	browse_open(browse, &browse_text_view);
	if (browse->text.hot.count)
		show_hot(browse, 0);
}
