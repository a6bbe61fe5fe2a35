/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Abilities of the device that shows the text: width, colours, UTF-8. */
#ifndef TERM_H
#define TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum term_colour { TERM_COLOUR_AUTO, TERM_COLOUR_ALWAYS, TERM_COLOUR_NEVER };

enum term_style {
	TERM_PLAIN,
	TERM_TITLE,   /* bold */
	TERM_DIM,
	TERM_HOT,     /* a share that matters most */
	TERM_WARM,    /* a share that matters */
	TERM_WARNING,
	TERM_KERNEL,
};

struct term {
	bool colour;
	bool utf8;
	int width; /* in columns; 0: no limit, as in a file or a pipe */
};

/*
 * Looks at standard output, at the locale (which setlocale() has set), and at
 * NO_COLOR, TERM and COLUMNS of the environment.
 */
struct term term_of_stdout(enum term_colour colour);

/* Starts and ends a style; nothing where there are no colours. */
void term_begin(const struct term *term, enum term_style style, FILE *out);
void term_end(const struct term *term, enum term_style style, FILE *out);

/* "…" and the like where the terminal has them, else the plain text. */
const char *term_glyph(const struct term *term, const char *utf8, const char *plain);

/* Blanks, if any. */
void term_pad(int width, FILE *out);

/* How many columns the text takes by term_put(). */
int term_text_width(const struct term *term, const char *text);

/*
 * Writes text of unknown origin: control characters and bytes that are not
 * UTF-8 as "?" or U+FFFD. At most `width` columns, which end in "…" where the
 * text is longer (0: all of it). Returns the columns taken.
 */
int term_put(const struct term *term, const char *text, int width, FILE *out);

#endif
