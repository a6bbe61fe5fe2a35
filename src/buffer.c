/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "list.h"
#include "memory.h"

/* Initial capacity in bytes; most texts are shorter. */
#define TEXT_LEAST 4096

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->text);
	*buffer = (struct buffer){0};
}

void buffer_grow(struct buffer *buffer, size_t more)
{
	size_t need = buffer->count + more;
	if (need < more)
		memory_end();
	list_grow(&buffer->text, &buffer->capacity, need < TEXT_LEAST ? TEXT_LEAST : need, 1);
}

static void fill(struct buffer *buffer, char c, size_t count)
{
	buffer_reserve(buffer, count);
	memset(buffer->text + buffer->count, c, count);
	buffer->count += count;
}

void buffer_name(struct buffer *buffer, const char *text)
{
	char scratch[TEXT_PIECE];
	size_t size;
	for (;;) {
		const char *piece = text_piece(&text, buffer->form, scratch, &size);
		if (!size)
			return;
		buffer_put(buffer, piece, size);
	}
}

void buffer_pad(struct buffer *buffer, size_t begin, size_t width)
{
	size_t used = buffer->count - begin;
	if (used < width)
		fill(buffer, ' ', width - used);
}

void buffer_right(struct buffer *buffer, const char *text, size_t width)
{
	size_t size = strlen(text);
	if (size < width)
		fill(buffer, ' ', width - size);
	buffer_name(buffer, text);
}

void buffer_decimal(struct buffer *buffer, uint64_t number, unsigned int width, char c)
{
	char digits[20];
	unsigned int count = 0;
	do {
		digits[sizeof(digits) - ++count] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	if (count < width)
		fill(buffer, c, width - count);
	buffer_put(buffer, digits + sizeof(digits) - count, count);
}

void buffer_signed(struct buffer *buffer, int64_t number, unsigned int width)
{
	if (number >= 0)
		buffer_decimal(buffer, (uint64_t)number, width, ' ');
	else
		buffer_format(buffer, "%*lld", (int)width, (long long)number);
}

void buffer_hex(struct buffer *buffer, uint64_t number, unsigned int width)
{
	char digits[16];
	unsigned int count = 0;
	do {
		digits[sizeof(digits) - ++count] = "0123456789abcdef"[number & 15];
		number >>= 4;
	} while (number);
	if (count < width)
		fill(buffer, ' ', width - count);
	buffer_put(buffer, digits + sizeof(digits) - count, count);
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
	va_list args;
	buffer_reserve(buffer, 256);
	for (int tries = 0; tries < 2; tries++) {
		size_t room = buffer->capacity - buffer->count;
		va_start(args, format);
		int length = vsnprintf(buffer->text + buffer->count, room, format, args);
		va_end(args);
		if (length < 0)
			return;
		if ((size_t)length < room) {
			buffer->count += (size_t)length;
			return;
		}
		buffer_reserve(buffer, (size_t)length + 1);
	}
}
