/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block "source" of a page: sampled lines of functions, and the text around them. */
#ifndef HTML_LISTING_H
#define HTML_LISTING_H

#include "html/head.h"

/*
 * Writes JSON: {"files": [{"path", "parts": [[first line, [text, ...]], ...]}, ...], "events": [[[function,
 * file, line, samples, weight, "function+0x12", "addl $1, %eax"], ...], ...]}. Each row is of one
 * instruction. Its place and text are missing without the program's file or capstone. Rows are those of
 * report->lines, by index of the head's functions; functions that the head lacks are left out. Files are
 * read below report->source_directories. Returns false when out of memory, or after printing an error.
 */
bool listing_write(const struct report *report, struct head *head, FILE *out);

#endif
