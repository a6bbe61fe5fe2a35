/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nearest name to a misspelt one. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

/* The nearest name found so far. Zeroed: none. */
struct nearest {
	const char *name;
	size_t distance;
};

/*
 * Compares the first `size` bytes of `typed` with a name, which is borrowed. A name is near if up to 2
 * edits (insert, delete, replace, swap neighbours), fewer than half of its length, lead to it. It is
 * also near if one of the two begins with the other: "freq" is near "frequency". Of equally near names
 * the first is kept.
 */
void nearest_add(struct nearest *nearest, const char *typed, size_t size, const char *name);

#endif
