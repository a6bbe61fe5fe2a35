/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>

void diag_error(struct sp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "sprof: %s\n", sp_error_message(error));
	if (sp_error_remedy(error))
		fprintf(stderr, "       %s\n", sp_error_remedy(error));
	sp_error_free(error);
}

void diag_say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("sprof: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
}
