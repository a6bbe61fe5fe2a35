/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

/* Formats like asprintf(3): malloc'ed. NULL when out of memory. */
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *format_text_va(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Returns the part after the last slash of a path; the whole path if that part is empty. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static inline bool text_ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);
	return size >= end_size && !strcmp(text + size - end_size, end);
}
