/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nearest.h"

#include <stdbool.h>
#include <string.h>

#define LENGTH_MAX 40
#define EDITS_MAX 2
#define PREFIX_MIN 3

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Damerau-Levenshtein distance (optimal string alignment) by three rows of its table. */
static size_t edits(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t rows[3][LENGTH_MAX + 1] = {0};
	size_t *two_up = rows[0], *up = rows[1], *row = rows[2];
	for (size_t j = 0; j <= b_size; j++)
		up[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			row[j] = least(least(up[j], row[j - 1]) + 1,
				       up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], two_up[j - 2] + 1);
		}
		size_t *oldest = two_up;
		two_up = up;
		up = row;
		row = oldest;
	}
	return up[b_size];
}

void nearest_add(struct nearest *nearest, const char *typed, size_t size, const char *name)
{
	size_t length = strlen(name);
	if (!size || size > LENGTH_MAX || length > LENGTH_MAX)
		return;
	size_t distance = edits(typed, size, name, length);
	bool near = distance <= EDITS_MAX && 2 * distance < length;
	/*
	 * One name begins with the other. Such names rank after all names within EDITS_MAX edits; those
	 * with a longer common part come first.
	 */
	size_t common = least(size, length);
	if (!near && common >= PREFIX_MIN && !memcmp(typed, name, common)) {
		distance = EDITS_MAX + LENGTH_MAX - common;
		near = true;
	}
	if (near && (!nearest->name || distance < nearest->distance))
		*nearest = (struct nearest){name, distance};
}
