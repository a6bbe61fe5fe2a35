/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages contain names that programs chose, and appear on a terminal, at once or later from a log.
 * Each message is therefore written as one line without control characters, which could be terminal
 * escapes.
 */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "text.h"

#define INDENT "       "

static void put_line(const char *begin, const char *text)
{
	fputs(begin, stderr);
	text_write(text, text_form_shown(), stderr);
	fputc('\n', stderr);
}

__attribute__((format(printf, 2, 0)))
static void put_format(const char *begin, const char *format, va_list args)
{
	char *text;
	if (vasprintf(&text, format, args) < 0) {
		put_line(begin, "out of memory");
		return;
	}
	put_line(begin, text);
	free(text);
}

void diag_error(struct sp_error *error)
{
	if (!error)
		return;
	put_line("sprof: ", sp_error_message(error));
	if (sp_error_remedy(error))
		put_line(INDENT, sp_error_remedy(error));
	sp_error_free(error);
}

void diag_say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_format("sprof: ", format, args);
	va_end(args);
}

void diag_more(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_format(INDENT, format, args);
	va_end(args);
}

void diag_log(void *arg, enum sp_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	diag_say("%s", line);
}
