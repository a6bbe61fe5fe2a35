/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <stdarg.h>
#include <string.h>

/* Formats like asprintf(3): malloc'ed. NULL when out of memory. */
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *format_text_va(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* Returns what follows the last slash of a path; the whole path if that is nothing. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

#endif
