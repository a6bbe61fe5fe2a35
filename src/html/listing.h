/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block "source" of a page: sampled lines of functions, and the text around them. */
#ifndef HTML_LISTING_H
#define HTML_LISTING_H

#include "html/head.h"

/*
 * Writes JSON: {"files": [{"path", "parts": [[first line, [text, ...]], ...]}, ...], "events": [[[function,
 * file, line, samples, weight], ...], ...]}. Lines are those of report->lines, by index of the head's
 * functions; files are read below report->source_directories. Adds functions that the head lacks as -1.
 * Returns false when out of memory, or after printing an error.
 */
bool listing_write(const struct report *report, struct head *head, FILE *out);

#endif
