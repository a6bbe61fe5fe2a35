/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Legend of the words that stand for a function or a value in a table's rows. */
#ifndef OUT_ROW_WORDS_H
#define OUT_ROW_WORDS_H

#include "out/columns.h"

/* Writes a line for each such word in the shown rows. */
void row_words_write(const struct report *report, const struct table_line *rows, size_t count,
		     FILE *out);

#endif
