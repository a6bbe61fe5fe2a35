/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output of text of unknown origin. Names in a recording are bytes that a program chose: they may be
 * invalid UTF-8 or contain terminal escapes.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Code point that stands for a byte that is not valid UTF-8. */
#define TEXT_INVALID UINT32_MAX

/*
 * Returns the code point at *text and advances *text after it. Each byte of invalid UTF-8 (overlong
 * forms and surrogates included) gives TEXT_INVALID. Returns 0 at the end, without advancing.
 */
uint32_t text_next(const char **text);

/* Returns the number of printable ASCII bytes at the start of the text. Each takes one column. */
size_t text_plain_size(const char *text);

/* Writes the code point as UTF-8; returns the number of bytes (1 to 4). */
size_t text_put(uint32_t code, char *buffer);

/* Forms in which text of unknown origin is written. */
enum text_form {
	TEXT_ONE_LINE, /* bytes unchanged, except line feed and carriage return as \n and \r */
	TEXT_SHOWN,    /* invalid UTF-8 and characters unsafe on a terminal as U+FFFD */
	TEXT_SHOWN_ASCII, /* like TEXT_SHOWN, with '?' for each non-ASCII character */
};

/* Returns the form for terminals and messages, by the locale. Never TEXT_ONE_LINE. */
enum text_form text_form_shown(void);

/* Returns text_form_shown() if the descriptor is a terminal, else TEXT_ONE_LINE. */
enum text_form text_form_of(int fd);

/*
 * Returns the code point to write in place of `code`, which may be TEXT_INVALID. Not for TEXT_ONE_LINE.
 */
uint32_t text_shown(uint32_t code, enum text_form form);

#define TEXT_PIECE 4

/*
 * Returns the next piece to write in this form, within the text or in `buffer`, and advances *text.
 * *size_ret is 0 at the end.
 */
const char *text_piece(const char **text, enum text_form form, char buffer[TEXT_PIECE],
		       size_t *size_ret);

/* Writes a text in this form to a stream. */
void text_write(const char *text, enum text_form form, FILE *out);

/* Returns whether a shell needs no quotes around the word. */
bool text_is_bare(const char *word);

/*
 * Appends a word to a command line, which it frees: after a blank, and quoted for a shell if
 * necessary. Returns the new one, for the caller to free.
 */
char *text_append_word(char *text, const char *word);

/*
 * Copies a line's first bytes with blanks for tabs, and without carriage returns. `copy` has
 * TEXT_TAB bytes more than `most`, and a NUL after the text. Returns the text's size.
 */
#define TEXT_TAB 8
size_t text_expand_tabs(const char *line, size_t size, size_t most, char *copy);

/* Returns an extended regular expression that matches the text, for the caller to free. */
char *text_expression(const char *text);

/* Returns the path's part after the last slash. */
const char *text_base_name(const char *path);

/* Returns whether both texts are equal, or both are NULL. */
bool text_is_same(const char *a, const char *b);

/*
 * Returns true for characters that must not reach a terminal: C0, DEL, C1, and marks that reorder text.
 */
int text_is_control(uint32_t code);

#endif
