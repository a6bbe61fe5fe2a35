/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/format.h"

#include <stdio.h>

char *format_text_va(const char *format, va_list args)
{
	char *text;
	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

char *format_text(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = format_text_va(format, args);
	va_end(args);
	return text;
}
