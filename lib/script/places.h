/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From (view, cpumode, ip) to what people see there. Each teller remembers what it was told,
 * so that an address is resolved once for each of them.
 */
#ifndef SCRIPT_PLACES_H
#define SCRIPT_PLACES_H

#include <pthread.h>
#include <sprof/script.h>
#include "base/arena.h"
#include "base/vec.h"
#include "machine/ip_maps.h"
#include "machine/machine.h"
#include "symbol/resolver.h"

/* Calls for one module never overlap: a lock for each, shared by some. */
#define PLACE_LOCKS 64

/* An offset and its debug information. */
struct sourced {
	const struct module *module;
	uint64_t offset;
	uint32_t pid;
	const struct source_frame *innermost; /* NULL: nothing */
};

/* Shared by all tellers. */
struct atlas {
	const struct machine *machine; /* sealed; borrowed */
	const struct sp_file_info *info; /* borrowed */
	struct resolver *resolver;     /* borrowed */
	bool inlines, lines;
	bool collecting;               /* places are only counted, for what follows to be asked */
	pthread_mutex_t locks[PLACE_LOCKS];
	uint8_t *has_sources;          /* by module, under its lock: 0 not asked, 1 no, 2 yes */
	VEC(struct sourced) sources;   /* by module and offset; complete before it is used */
};

struct sp_error *atlas_init(struct atlas *atlas, const struct sp_file_info *info,
			    const struct machine *machine, struct resolver *resolver,
			    const struct sp_script_options *options) SP_MUST_CHECK;
void atlas_deinit(struct atlas *atlas);

/* Whether a module that was mapped has debug information that is wanted. */
bool atlas_needs_sources(struct atlas *atlas);

/* A place, and what it is filtered by. */
struct place {
	struct sp_place shown;
	const struct module *module; /* NULL: nothing is known to be there */
	const struct symbol *symbol; /* NULL: nothing is known */
};

struct places {
	struct atlas *atlas;
	struct arena arena;
	VEC(struct place *) items; /* by number */
	struct ip_maps maps;       /* ip to number */
	VEC(struct sourced) wanted; /* used if atlas->collecting */
};

/* Zeroed but for `atlas` it is empty. */
void places_free(struct places *places);

/*
 * The place of an ip; of a `caller`, ip is where the call returns to, and the function that of
 * the call. NULL when out of memory.
 */
struct place *places_find(struct places *places, uint32_t view, uint16_t cpumode, uint64_t ip,
			  bool caller);

/* Implements sp_teller_code(), in a view. */
bool places_code(struct places *places, uint32_t view, uint16_t cpumode, uint64_t ip, size_t size,
		 void *ret, uint16_t *machine_ret);

/* Asks debug information about all that was collected; then `collecting` is over. */
struct sp_error *atlas_ask(struct atlas *atlas, struct places *places, size_t count,
			   unsigned int threads) SP_MUST_CHECK;

#endif
