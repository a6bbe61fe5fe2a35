/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of commands that read and print. Without memory such a command ends: these functions do
 * not return then, so that their callers need no case for it. A recorder goes on: see
 * list_try_push().
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Ends the process with EXIT_RECORDER, after the functions of memory_at_end(), the last one first.
 * Streams are not flushed, and exit() is not called, because other threads still run.
 */
void memory_end(void) __attribute__((noreturn));

/* Adds a function that prints the message, or restores what outlives the process. */
void memory_at_end(void (*act)(void));

/* The C library's functions of these names without x. */
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *memory, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t size) __attribute__((malloc, returns_nonnull));

/* Return the text for the caller to free. */
char *xasprintf(const char *format, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));
char *xvasprintf(const char *format, va_list args)
	__attribute__((format(printf, 1, 0), malloc, returns_nonnull));

/*
 * A stream that makes a text. text_stream_close() sets the text, which the caller frees. Without
 * memory, fclose() may succeed, and leaves no text.
 *
 *	char *text;
 *	size_t size;
 *	FILE *out = text_stream_open(&text, &size);
 */
FILE *text_stream_open(char **text, size_t *size) __attribute__((returns_nonnull));
void text_stream_close(FILE *stream, char *const *text);

#endif
