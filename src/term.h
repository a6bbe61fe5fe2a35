/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Abilities of the output device: width in columns, colours, UTF-8. */
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
	TERM_HOT,     /* largest shares */
	TERM_WARM,    /* medium shares */
	TERM_WARNING,
	TERM_KERNEL,
};

struct term {
	bool colour;
	bool utf8;
	bool terminal; /* it is a terminal: the number of lines is limited, too */
	int width;     /* in columns; 0: no limit, as in a file or a pipe without COLUMNS */
};

/*
 * Detects the abilities of the file that a command writes (NULL: of standard output) from the
 * locale set by setlocale(), and NO_COLOR, TERM and COLUMNS. A file is no terminal, without width.
 */
struct term term_of_output(const char *file, enum term_colour colour);

/* Detects the abilities of standard error, without colours. COLUMNS is for terminals only. */
struct term term_of_stderr(void);

/* Start and end a style. Write nothing if there are no colours. */
void term_begin(const struct term *term, enum term_style style, FILE *out);
void term_end(const struct term *term, enum term_style style, FILE *out);

/* Returns `utf8` if the terminal shows UTF-8, else `plain`. */
const char *term_glyph(const struct term *term, const char *utf8, const char *plain);

/* Returns a bar of one column, with one of nine heights: 0, blank, to 8. */
const char *term_bar(const struct term *term, double height);

/* Writes `width` blanks; none if it is not positive. */
void term_pad(int width, FILE *out);

/* Returns the number of columns that term_put() needs for the text. */
int term_text_width(const struct term *term, const char *text);

/*
 * Writes text of unknown origin. Control characters and invalid UTF-8 become "?" or U+FFFD. Text
 * wider than `width` columns is cut and ends in "…", or "~" without UTF-8 (0: no limit). Returns
 * the columns written.
 */
int term_put(const struct term *term, const char *text, int width, FILE *out);

/* Width to which sentences are wrapped in a file or a pipe. */
#define TERM_PLAIN_WIDTH 100

/*
 * Writes a sentence of unknown origin and a line feed, wrapped at blanks to the terminal's width,
 * but not after a number: a unit may follow. It begins in column `column`, which is at least
 * `indent`, continues in `indent`, and is cut after `lines` lines (0: no limit).
 */
void term_wrap(const struct term *term, const char *text, int column, int indent, int lines,
	       FILE *out);

#endif
