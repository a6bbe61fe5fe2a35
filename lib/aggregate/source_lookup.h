/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The places that debug information is asked about, and what it says: of each module all
 * at once, and modules side by side.
 */
#ifndef AGGREGATE_SOURCE_LOOKUP_H
#define AGGREGATE_SOURCE_LOOKUP_H

#include "aggregate/names.h"

struct source_place {
	uint32_t module; /* its index */
	uint32_t frame;  /* index in struct names */
	uint64_t offset;
	const struct source_frame *innermost; /* NULL: nothing is known */
};

struct source_places {
	VEC(struct source_place);    /* places of all sourced frames, by module and offset */
	size_t *first_source; /* by module: where its frames of sources begin among all */
	size_t source_count;
};

/*
 * Fails only when out of memory. A zeroed struct places, to be released either way. Without
 * `lines`, those of frames may be of other places in their functions.
 */
struct sp_error *source_places_find(struct source_places *places, const struct names *names,
				    bool lines, unsigned int threads) SP_MUST_CHECK;
void source_places_deinit(struct source_places *places);

/* A frame of sources that was found in a module: its number among all. */
static inline size_t source_places_number(const struct source_places *places,
					  const struct module *module,
					  const struct source_frame *source)
{
	return places->first_source[module->index] + source->number;
}

#endif
