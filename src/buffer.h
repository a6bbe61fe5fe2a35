/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing text buffer for output that printf() would slow down. Its content is written to a stream in
 * one call.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "text.h"

struct buffer {
	char *text;
	size_t count, capacity;
	enum text_form form; /* form in which buffer_name() writes names */
};

void buffer_deinit(struct buffer *buffer);

void buffer_grow(struct buffer *buffer, size_t more);

/* Makes room for `more` further bytes. */
static inline void buffer_reserve(struct buffer *buffer, size_t more)
{
	if (more > buffer->capacity - buffer->count)
		buffer_grow(buffer, more);
}

static inline void buffer_put(struct buffer *buffer, const char *text, size_t size)
{
	if (!size)
		return;
	buffer_reserve(buffer, size);
	memcpy(buffer->text + buffer->count, text, size);
	buffer->count += size;
}

static inline void buffer_string(struct buffer *buffer, const char *text)
{
	buffer_put(buffer, text, strlen(text));
}

static inline void buffer_char(struct buffer *buffer, char c)
{
	buffer_reserve(buffer, 1);
	buffer->text[buffer->count++] = c;
}

/* Appends text of unknown origin, such as a name in a recording, as buffer->form requires. */
void buffer_name(struct buffer *buffer, const char *text);

/* Appends blanks until the text that begins at offset `begin` is `width` bytes long. */
void buffer_pad(struct buffer *buffer, size_t begin, size_t width);

/* Appends a name, aligned right like printf's %*s. */
void buffer_right(struct buffer *buffer, const char *text, size_t width);

/* Writes like printf's %*lu and %*ld, with blanks or zeros before the number. */
void buffer_decimal(struct buffer *buffer, uint64_t number, unsigned int width, char fill);
void buffer_signed(struct buffer *buffer, int64_t number, unsigned int width);

/* Writes like printf's %*lx. */
void buffer_hex(struct buffer *buffer, uint64_t number, unsigned int width);

void buffer_format(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
