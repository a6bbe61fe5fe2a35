/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nearest name to a misspelt one. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

/* The best name so far. Zeroed: none. */
struct nearest {
	const char *name;
	size_t distance;
};

/*
 * Compares the first `size` bytes of `typed` with a name, which is borrowed. Near are names with up
 * to 2 edits (insert, delete, replace, swap neighbours), fewer than half of the name, and names that
 * continue `typed` or that it continues: "freq" is near "frequency". The first of equally near ones
 * is the best.
 */
void nearest_add(struct nearest *nearest, const char *typed, size_t size, const char *name);

#endif
