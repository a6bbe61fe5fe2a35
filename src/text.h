/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of unknown origin. Names in a recording are bytes that a program chose
 * for itself: they need not be UTF-8, and may hold terminal escapes.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

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

/* True for what must not reach a terminal: C0, DEL, C1, and marks that reorder text. */
int text_is_control(uint32_t code);

#endif
