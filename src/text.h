/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of unknown origin. Names in a recording are bytes that a program chose
 * for itself: they need not be UTF-8, and may hold terminal escapes.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The code point where a byte fits no valid UTF-8 sequence. */
#define TEXT_INVALID UINT32_MAX

/*
 * The code point at *text, which is moved behind it. Bytes that are not valid
 * UTF-8 (overlong forms and surrogates included) give TEXT_INVALID, one at a
 * time. 0 at the end; *text is then left.
 */
uint32_t text_next(const char **text);

/* How many bytes at the start are printable ASCII, which is as wide as it is long: most names. */
size_t text_plain_size(const char *text);

/* Writes the code point as UTF-8; returns the number of bytes (1 to 4). */
size_t text_put(uint32_t code, char *buffer);

/* Forms in which text of unknown origin is written. */
enum text_form {
	TEXT_ONE_LINE, /* its bytes, with line feed and carriage return as \n and \r */
	TEXT_SHOWN,    /* invalid UTF-8 and characters unsafe on a terminal as U+FFFD */
	TEXT_SHOWN_ASCII, /* these, and all non-ASCII characters, as '?' */
};

/* Form for terminals and messages, by the locale. Never TEXT_ONE_LINE. */
enum text_form text_form_shown(void);

/* The same form if the descriptor is a terminal; else TEXT_ONE_LINE. */
enum text_form text_form_of(int fd);

/* Code point that is written for `code`, which may be TEXT_INVALID. Not for TEXT_ONE_LINE. */
uint32_t text_shown(uint32_t code, enum text_form form);

#define TEXT_PIECE 4

/*
 * Returns the next piece to write, in the text itself or in `buffer`, and advances *text after it.
 * *size_ret is 0 at the end.
 */
const char *text_piece(const char **text, enum text_form form, char buffer[TEXT_PIECE],
		       size_t *size_ret);

/* Writes the whole text to a stream. */
void text_write(const char *text, enum text_form form, FILE *out);

/* True for what must not reach a terminal: C0, DEL, C1, and marks that reorder text. */
int text_is_control(uint32_t code);

#endif
