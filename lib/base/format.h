/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <stdarg.h>

/* Formats like asprintf(3): malloc'ed. NULL when out of memory. */
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *format_text_va(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
