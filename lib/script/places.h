/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code addresses with names, as a script shows them. Each teller resolves an address once. */
#pragma once

#include <sprof/script.h>
#include "base/arena.h"
#include "symbol/address_cache.h"
#include "symbol/line_places.h"

/* Resolver, options and debug information of places; all tellers share them. */
struct place_sources {
	struct locked_resolver locked;
	const struct sp_file_info *info; /* borrowed */
	bool inlines, lines;
	/* Places are only listed, to look them up together. place_sources_find() clears it. */
	bool collecting;
	struct line_places sources; /* empty until place_sources_find() */
};

struct sp_error *place_sources_init(struct place_sources *shared, const struct sp_file_info *info,
				    const struct machine *machine, struct resolver *resolver,
				    const struct sp_script_options *options) SP_MUST_CHECK;
/* Accepts a zeroed struct. */
void place_sources_deinit(struct place_sources *shared);

/* Returns whether debug information is requested, and a module has some. */
bool place_sources_are_needed(struct place_sources *shared);

/* A code address with names, and the values that filters compare. */
struct place {
	struct sp_place shown;
	const struct module *module; /* NULL: the address is unmapped */
	const struct symbol *symbol; /* NULL: unknown */
};

/* One teller's places, by address. */
struct places {
	struct place_sources *shared;
	struct arena arena;
	VEC(struct place *) items; /* by number */
	struct address_cache cache; /* numbers of places */
	struct line_places wanted;  /* places to look up, filled while shared->collecting */
};

void places_init(struct places *places, struct place_sources *shared);
void places_deinit(struct places *places);

/* Returns the place of an address, valid until places_deinit(). NULL when out of memory. */
struct place *places_find(struct places *places, struct code_address address);

/* Reads code for sp_teller_code(); false if it cannot be read. */
bool place_sources_read_code(struct place_sources *shared, const struct location *location,
			     void *ret, size_t size, uint16_t *machine_ret);

/* Finds debug information of all tellers' collected places, and ends collecting. */
struct sp_error *place_sources_find(struct place_sources *shared, struct places *const *places,
				    size_t count, unsigned int threads) SP_MUST_CHECK;
