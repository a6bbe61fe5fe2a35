/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/csv_cell.h"

#include <stdbool.h>
#include <string.h>
#include "text.h"

static void put_code(uint32_t code, FILE *out)
{
	char buffer[4];
	if (code == '"')
		fputs("\"\"", out);
	else if (code == '\n' || code == '\r')
		fputs(code == '\n' ? "\\n" : "\\r", out);
	else
		fwrite(buffer, 1, text_put(text_shown(code, TEXT_SHOWN), buffer), out);
}

void cell_put(const char *text, const char *separator, FILE *out)
{
	bool formula = *text && strchr("=+-@", *text);
	bool quote = formula || strpbrk(text, "\"\n\r") ||
		     (*separator && strstr(text, separator));
	if (quote)
		putc('"', out);
	if (formula)
		putc('\'', out);
	while (true) {
		size_t plain = text_plain_size(text);
		const char *inner = memchr(text, '"', plain);
		if (inner)
			plain = (size_t)(inner - text);
		fwrite(text, 1, plain, out);
		text += plain;
		uint32_t code = text_next(&text);
		if (!code)
			break;
		put_code(code, out);
	}
	if (quote)
		putc('"', out);
}
