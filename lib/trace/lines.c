/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/lines.h"

#include <event-parse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEX_DIGITS "0123456789abcdefABCDEF"
/* Limit of the length of a printk format string. */
#define LONGEST_TEXT 4096

/*
 * Returns the line at *text without its newline, and advances *text to the next line. NULL: no more
 * lines.
 */
static char *take_line(char **text)
{
	char *line = *text;
	if (!*line)
		return NULL;
	*text += strcspn(line, "\n");
	if (**text)
		*(*text)++ = '\0';
	return line;
}

/* Skips 1 to 16 hex digits; NULL if there are none, or more. */
static const char *skip_address(const char *at)
{
	size_t digits = strspn(at, HEX_DIGITS);
	return digits && digits <= 16 ? at + digits : NULL;
}

static bool is_symbol(const char *line)
{
	const char *at = skip_address(line);
	if (!at || at[0] != ' ' || !at[1] || strchr(" \t", at[1]) || at[2] != ' ')
		return false;
	at += 3;
	size_t name = strcspn(at, " \t");
	if (!name)
		return false;
	at += name;
	if (!*at)
		return true;
	return at[0] == '\t' && at[1] == '[' && strlen(at) >= 4 && !strpbrk(at + 1, " \t") &&
	       at[strlen(at) - 1] == ']';
}

void lines_take_kallsyms(struct tep_handle *tep, char *text)
{
	char *kept = text, *rest = text, *line;
	while ((line = take_line(&rest)) != NULL) {
		size_t length = strlen(line);
		if (!is_symbol(line))
			continue;
		/* Separate the line from the previous one. */
		if (kept > text)
			*kept++ = '\n';
		memmove(kept, line, length);
		kept += length;
	}
	*kept = '\0';
	(void)tep_parse_kallsyms(tep, text);
}

/*
 * Registers a printk format string. libtraceevent removes quotes and a final "\n" without checking the
 * length for short strings. So each string is passed with both.
 */
static void take_printk(struct tep_handle *tep, unsigned long long address, const char *text)
{
	char quoted[LONGEST_TEXT];
	size_t length = strlen(text);
	if (*text == '"') {
		text++;
		length--;
	}
	if (length && text[length - 1] == '"')
		length--;
	if (length >= 2 && !memcmp(text + length - 2, "\\n", 2))
		length -= 2;
	if (length > sizeof(quoted) - 8)
		length = sizeof(quoted) - 8;
	snprintf(quoted, sizeof(quoted), "\"%.*s\\n\"", (int)length, text);
	(void)tep_register_print_string(tep, quoted, address);
}

void lines_take_printk(struct tep_handle *tep, char *text)
{
	char *line;
	while ((line = take_line(&text)) != NULL) {
		const char *digits = !strncmp(line, "0x", 2) ? line + 2 : line;
		const char *at = skip_address(digits);
		if (!at)
			continue;
		at += strspn(at, " ");
		if (at[0] == ':' && at[1] == ' ')
			take_printk(tep, strtoull(digits, NULL, 16), at + 2);
	}
}
