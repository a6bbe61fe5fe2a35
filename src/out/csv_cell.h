/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUT_CSV_CELL_H
#define OUT_CSV_CELL_H

#include <stdio.h>

/*
 * Writes text of unknown origin as a cell of a CSV line: in quotes if it has the separator, a quote or
 * a line break. Spreadsheets evaluate a cell that begins with = + - or @ as a formula, even in quotes,
 * so it gets a single quote in front. Line feed and carriage return are
 * written as \n and \r, other control characters and bytes that are not UTF-8 as U+FFFD.
 */
void cell_put(const char *text, const char *separator, FILE *out);

#endif
