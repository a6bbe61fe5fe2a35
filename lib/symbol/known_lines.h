/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A module's source frames that were found before, by offset. They belong to a struct lines. */
#ifndef SYMBOL_KNOWN_LINES_H
#define SYMBOL_KNOWN_LINES_H

#include "base/hash.h"
#include "base/vec.h"
#include "symbol/resolver.h"

/* A zeroed struct is empty. */
struct known_lines {
	struct u64map by_offset; /* offset -> index in frames */
	VEC(const struct source_frame *) frames; /* NULL: the debug information has none */
	size_t distinct; /* all frames have numbers below this */
	bool lines;      /* source_frames.lines of all of them */
};

void known_lines_deinit(struct known_lines *known);

/* Writes the query's offsets that are not known to `ret`, which has room for all; returns their count. */
size_t known_lines_select_new(const struct known_lines *known, const struct source_query *query,
			      uint64_t *ret);

/* Adds the frames of `count` offsets; false when out of memory. */
bool known_lines_add(struct known_lines *known, const uint64_t *offsets, size_t count,
		     const struct source_frames *frames);

/* Sets the results of a query with cached offsets; NULL for others. */
void known_lines_get(const struct known_lines *known, const struct source_query *query,
		     struct source_frames *ret);

#endif
