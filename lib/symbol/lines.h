/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions and lines of one module's debug information, with demangled names. */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "symbol/resolver.h"
#include "symbol/source.h"

struct lines {
	VEC(struct dwarf_answer *) answers; /* large ones own their raw names and files */
	struct strtab texts;     /* raw names and files of small answers */
	struct u64map shown_of;  /* address of a raw name in `texts` -> index in `shown` */
	VEC(const char *) shown; /* demangled names */
	struct arena arena;      /* frames */
	VEC(struct arena) names; /* demangled names */
};

/* A zeroed struct lines is ready. */
void lines_deinit(struct lines *lines);

/* Opened debug information of one module. Borrowed. */
struct lines_module {
	struct dwarf *dwarf;
	struct placement placement;
	struct diagnosis *diagnosis; /* describes damage that was found */
	/*
	 * Finds the offsets of the symbol at an offset. False if there is none, or its size is not
	 * known.
	 */
	bool (*find_symbol)(void *arg, uint64_t offset, uint64_t *start_ret, uint64_t *end_ret);
	void *arg;
};

/*
 * Implements resolver_sources() for one module. Numbers of frames begin at ret->distinct, which grows.
 */
struct sp_error *lines_resolve(struct lines *lines, const struct lines_module *module,
			       const struct source_query *query,
			       struct source_frames *ret) SP_MUST_CHECK;

/* A module's source frames that were found before, by offset. They belong to a struct lines. */

/* A zeroed struct is empty. */
struct known_lines {
	struct u64map by_offset; /* offset -> index in frames */
	VEC(const struct source_frame *) frames; /* NULL: the debug information has none */
	size_t distinct; /* all frames have numbers below this */
	bool lines;      /* source_frames.lines of all of them */
};

void known_lines_deinit(struct known_lines *known);

/*
 * Writes the query's offsets that are not known to `ret`, which has room for all; returns their
 * count.
 */
size_t known_lines_select_new(const struct known_lines *known, const struct source_query *query,
			      uint64_t *ret);

/* Adds the frames of `count` offsets; false when out of memory. */
bool known_lines_add(struct known_lines *known, const uint64_t *offsets, size_t count,
		     const struct source_frames *frames);

/* Sets the results of a query with cached offsets; NULL for others. */
void known_lines_get(const struct known_lines *known, const struct source_query *query,
		     struct source_frames *ret);
