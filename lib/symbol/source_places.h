/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions and lines of many places: each module's at once, and modules side by side. */
#ifndef SYMBOL_SOURCE_PLACES_H
#define SYMBOL_SOURCE_PLACES_H

#include "symbol/symbolizer.h"

struct source_place {
	const struct module *module;
	uint64_t offset;
	uint32_t pid;    /* process, as in struct location */
	uint32_t number; /* the caller's */
	const struct source_frame *innermost; /* found; NULL: nothing is known */
};

struct source_places {
	VEC(struct source_place); /* once found: ordered by module and offset */
	size_t *first_source;     /* by module: number of its first source frame among all */
	size_t source_count;
};

/*
 * Finds the innermost function of each place, by up to `threads` threads. Without `lines`, the line of
 * a frame may be of another place in its function. Fails only when out of memory.
 */
struct sp_error *source_places_find(struct source_places *places,
				    const struct symbolizer *symbolizer, bool lines,
				    unsigned int threads) SP_MUST_CHECK;

/* A zeroed struct source_places may be released. */
void source_places_deinit(struct source_places *places);

/* The place at an offset; NULL if it was not among those that were found. */
const struct source_place *source_places_at(const struct source_places *places,
					    const struct location *location);

/* The number of a module's source frame among all. */
static inline size_t source_places_number(const struct source_places *places,
					  const struct module *module,
					  const struct source_frame *source)
{
	return places->first_source[module->index] + source->number;
}

#endif
