/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TAP, for live tests that are programs. */
#ifndef LIVE_TAP_H
#define LIVE_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/error.h>

static int tap_count;

__attribute__((format(printf, 2, 3))) static inline void tap_result(bool passed, const char *format,
								     ...)
{
	va_list args;
	va_start(args, format);
	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

static inline void tap_skip(const char *what, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why);
}

/* The test cannot go on with an error, which is used up. */
static inline void tap_need(struct sp_error *error)
{
	if (!error)
		return;
	const char *remedy = sp_error_remedy(error);
	printf("Bail out! %s%s%s\n", sp_error_message(error), remedy ? ": " : "", remedy ?: "");
	exit(1);
}

/* For main() to return, before any result. */
static inline int tap_skip_all(const char *why, int errnum)
{
	printf("1..0 # SKIP %s: %s\n", why, strerror(errnum));
	return 0;
}

/* For main() to return, behind all. */
static inline int tap_end(void)
{
	printf("1..%d\n", tap_count);
	return 0;
}

#endif
