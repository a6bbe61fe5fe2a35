/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds functions and lines of many places: one lookup for each module, and modules in parallel. */
#pragma once

#include "base/vec.h"
#include "symbol/locked_resolver.h"

struct line_place {
	const struct module *module;
	uint64_t offset;
	uint32_t pid;    /* process, as in struct location */
	uint32_t number; /* set and used by the caller */
	const struct source_frame *innermost; /* result; NULL: nothing found */
};

struct line_places {
	VEC(struct line_place); /* after the lookup: sorted by module and offset */
	size_t *first_source;   /* by module: global number of its first source frame */
	size_t source_count;
};

/*
 * Finds the innermost function of each place with up to `threads` threads. Without `lines`, a
 * frame's line may be that of another place in its function. Fails only when out of memory.
 */
struct sp_error *line_places_find(struct line_places *places,
				  const struct locked_resolver *locked, bool lines,
				  unsigned int threads) SP_MUST_CHECK;

/* A zeroed struct line_places may be released. */
void line_places_deinit(struct line_places *places);

/* Returns the place at an offset; NULL if it was not looked up. */
const struct line_place *line_places_at(const struct line_places *places,
					const struct location *location);

/* Converts the number of a module's source frame to its global number. */
static inline size_t line_places_number(const struct line_places *places,
					const struct module *module,
					const struct source_frame *source)
{
	return places->first_source[module->index] + source->number;
}
