/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/demangle.h"

#include <string.h>

#define PREFIX "caml"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte of an escape, "$5b", or -1. Control characters stay escaped. */
static int escaped(const char *text)
{
	int high = text[0] == '$' ? hex_digit(text[1]) : -1;
	int low = high >= 0 ? hex_digit(text[2]) : -1;
	int byte = high * 16 + low;
	return low >= 0 && byte >= ' ' && byte != 0x7f ? byte : -1;
}

const char *demangle_ocaml(const char *name, struct arena *arena)
{
	const char *from = name + strlen(PREFIX);
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || *from < 'A' || *from > 'Z')
		return NULL;
	char *shown = arena_alloc(arena, strlen(from) + 1), *to = shown;
	while (shown && *from) {
		int byte = escaped(from);
		bool separates = from[0] == '_' && from[1] == '_';
		*to++ = byte >= 0 ? (char)byte : separates ? '.' : *from;
		from += byte >= 0 ? 3 : separates ? 2 : 1;
	}
	return shown;
}
