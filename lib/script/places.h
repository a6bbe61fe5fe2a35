/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code addresses with names, as a script shows them. Each teller resolves an address once. */
#pragma once

#include <sprof/script.h>
#include "base/arena.h"
#include "symbol/address_cache.h"
#include "symbol/line_places.h"

/* State shared by all tellers. */
struct place_cache {
	struct locked_resolver locked;
	const struct sp_file_info *info; /* borrowed */
	bool inlines, lines;
	bool collecting;              /* pass that lists places, to look them up together */
	struct line_places sources; /* empty until place_cache_find_sources() */
};

/* A zeroed struct place_cache may be released. */
struct sp_error *place_cache_init(struct place_cache *shared, const struct sp_file_info *info,
			    const struct machine *machine, struct resolver *resolver,
			    const struct sp_script_options *options) SP_MUST_CHECK;
void place_cache_deinit(struct place_cache *shared);

/* Whether debug information is requested, and a module has some. */
bool place_cache_needs_sources(struct place_cache *shared);

/* A code address with names, and the values that filters compare. */
struct place {
	struct sp_place shown;
	const struct module *module; /* NULL: the address is unmapped */
	const struct symbol *symbol; /* NULL: unknown */
};

/* One teller's places, by address. */
struct places {
	struct place_cache *shared;
	struct arena arena;
	VEC(struct place *) items; /* by number */
	struct address_cache cache; /* numbers of places */
	struct line_places wanted; /* places to look up, filled while shared->collecting */
};

void places_init(struct places *places, struct place_cache *shared);
void places_deinit(struct places *places);

/* Returns the place of an address; NULL when out of memory. */
struct place *places_find(struct places *places, struct code_address address);

/* Reads code for sp_teller_code(); false if it cannot be read. */
bool place_cache_code(struct place_cache *shared, const struct location *location, void *ret,
		      size_t size, uint16_t *machine_ret);

/* Finds debug information of all tellers' collected places and ends collecting. */
struct sp_error *place_cache_find_sources(struct place_cache *shared, struct places *const *places,
					  size_t count, unsigned int threads) SP_MUST_CHECK;
