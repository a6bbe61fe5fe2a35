/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/linkage.h"

#include <string.h>

/* Returns the byte after an identifier that begins with its length, or the end of the text. */
static const char *skip_identifier(const char *at)
{
	size_t size = 0;
	for (; *at >= '0' && *at <= '9'; at++)
		size = size < 4096 ? 10 * size + (size_t)(*at - '0') : size;
	return at + strnlen(at, size);
}

/*
 * Returns the digit of C1 to C5 or D0 to D5, which follow the name of a class; NULL: there is none.
 */
static const char *find_variant(const char *raw_name)
{
	const char *at = strncmp(raw_name, "_ZN", 3) ? "" : raw_name + 3;
	while (*at) {
		if (*at >= '0' && *at <= '9') {
			at = skip_identifier(at);
		} else if ((*at == 'C' || *at == 'D') && at[1] >= '0' && at[1] <= '5' &&
			   (at[2] == 'E' || at[2] == 'I')) {
			return at + 1;
		} else if (*at == 'S' || *at == 'T') {
			/* a reference to an earlier part, "S1C_" */
			at++;
			at += strspn(at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
		} else {
			at++;
		}
	}
	return NULL;
}

char linkage_variant(const char *raw_name)
{
	const char *digit = find_variant(raw_name);
	return digit && digit[-1] == 'D' ? *digit : digit && *digit == '2' ? '2' : 0;
}

char *linkage_of_source(const char *raw_name)
{
	const char *digit = find_variant(raw_name);
	char *copy = digit ? strdup(raw_name) : NULL;
	if (copy)
		copy[digit - raw_name] = '4';
	return copy;
}
