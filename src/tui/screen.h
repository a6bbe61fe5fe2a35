/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full-screen terminal: lines of text, keys and the mouse. The only user of ncurses, which is
 * loaded when a screen is opened.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include "term.h"

struct screen;

/* Keys that are no characters. Characters are code points, which are below SCREEN_KEY_NONE. */
enum screen_key {
	SCREEN_KEY_NONE = 0x110000, /* no key within the time, or one without a meaning */
	SCREEN_KEY_UP,
	SCREEN_KEY_DOWN,
	SCREEN_KEY_LEFT,
	SCREEN_KEY_RIGHT,
	SCREEN_KEY_PAGE_UP,
	SCREEN_KEY_PAGE_DOWN,
	SCREEN_KEY_HOME,
	SCREEN_KEY_END,
	SCREEN_KEY_ENTER,
	SCREEN_KEY_ESCAPE,
	SCREEN_KEY_BACKSPACE,
	SCREEN_KEY_BACK_TAB,
	SCREEN_KEY_F1,
	SCREEN_KEY_RESIZE,
	SCREEN_KEY_PRESS, /* mouse: left button */
	SCREEN_KEY_RELEASE,
	SCREEN_KEY_WHEEL_UP,
	SCREEN_KEY_WHEEL_DOWN,
	SCREEN_KEY_END_OF_INPUT, /* the terminal was closed */
};

struct screen_event {
	uint32_t key;	 /* a code point or enum screen_key */
	int row, column; /* the mouse's place */
};

/*
 * Opens the terminal of standard output; keys come from standard input, or from /dev/tty if that is
 * no terminal. Until screen_close(), signals that end the process restore the terminal first.
 * Returns NULL after printing why it cannot be opened.
 */
struct screen *screen_open(void);

/* Restores the terminal. NULL is allowed. */
void screen_close(struct screen *screen);

int screen_rows(const struct screen *screen);

/*
 * Returns the form of text for screen_line(): its width is the screen's, and it has styles, which
 * screen_line() converts to the terminal's.
 */
struct term screen_term(const struct screen *screen);

/* Returns whether SGR's colours 30 to 37 and 40 to 47 are shown; else only bold and reverse are. */
bool screen_has_colours(const struct screen *screen);

void screen_clear(struct screen *screen);

/*
 * Draws a text up to its first line feed, from a column to the right edge. It contains no control
 * characters other than styles: those of term_begin(), 7 (reverse video), 40 to 47 (background);
 * term_put() removes those in names. `marked`: the whole rest of the line is in reverse video.
 */
void screen_line(struct screen *screen, int row, int column, const char *text, bool marked);

/* Shows all that was drawn. The cursor is shown at `column` of `row` unless `row` is negative. */
void screen_update(struct screen *screen, int row, int column);

/* Waits up to `timeout_ms` for a key; negative: without limit. */
struct screen_event screen_wait(struct screen *screen, int timeout_ms);

#endif
