/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds functions and lines of many places: one lookup for each module, and modules in parallel. */
#pragma once

#include <pthread.h>
#include "machine/ip_maps.h"
#include "symbol/resolver.h"

/*
 * Makes a resolver usable by several threads, by one lock for each module. Report and script look
 * up each address through a symbolizer, and keep results in each thread's address cache.
 */

/* Number of locks, which modules share. */
#define SYMBOLIZER_LOCKS 64

/* Callbacks to find functions and lines: those of the resolver, or a test's. */
struct source_finder {
	bool (*has)(void *arg, const struct module *module, uint32_t pid);
	struct sp_error *(*find)(void *arg, const struct source_query *query,
				 struct source_frames *ret);
	void *arg;
	struct sp_ctx *ctx; /* counts finished lookups; NULL: they are no step */
};

/* Returns the callbacks of a resolver, which is borrowed. */
struct source_finder source_finder_of(struct resolver *resolver, struct sp_ctx *ctx);

struct symbolizer {
	const struct machine *machine; /* sealed; borrowed */
	struct resolver *resolver;     /* borrowed */
	struct source_finder finder;   /* `has` is NULL if no debug information is wanted */
	pthread_mutex_t locks[SYMBOLIZER_LOCKS];
	uint8_t *has_sources;          /* by module, under its lock: 0 unknown, 1 no, 2 yes */
};

/* A zeroed struct symbolizer may be released. `finder` may be NULL. */
struct sp_error *symbolizer_init(struct symbolizer *symbolizer, const struct machine *machine,
				 struct resolver *resolver,
				 const struct source_finder *finder) SP_MUST_CHECK;

void symbolizer_deinit(struct symbolizer *symbolizer);

/*
 * Locks a module and returns the lock. The resolver may be called for the module until it is
 * unlocked.
 */
pthread_mutex_t *symbolizer_lock(struct symbolizer *symbolizer, const struct module *module);

/*
 * Returns the symbol, and whether debug information may know more. Call it with the module locked.
 */
const struct symbol *symbolizer_symbol(struct symbolizer *symbolizer,
				       const struct location *location, bool caller);

bool symbolizer_has_sources(struct symbolizer *symbolizer, const struct module *module,
			    uint32_t pid);

/*
 * One thread's cache from addresses to numbers. `make` returns the number of a new address, or
 * ADDRESS_CACHE_FAILED when out of memory.
 */
struct address_cache {
	const struct machine *machine; /* sealed; borrowed */
	uint32_t (*make)(void *arg, const struct code_address *address);
	void *arg;
	struct ip_maps maps;
};

#define ADDRESS_CACHE_FAILED UINT32_MAX

static inline void address_cache_deinit(struct address_cache *cache)
{
	ip_maps_deinit(&cache->maps);
}

/* Slow path of address_cache_find(). */
uint32_t address_cache_make(struct address_cache *cache, const struct code_address *address);

/* Returns the number of an address, or ADDRESS_CACHE_FAILED. */
static inline uint32_t address_cache_find(struct address_cache *cache, struct code_address address)
{
	struct u64map *map = ip_maps_find(&cache->maps, cache->machine, address.view,
					  address.cpumode, address.caller);
	const uint32_t *known = map ? u64map_find(map, address.ip) : NULL;
	if (__builtin_expect(known != NULL, 1))
		return *known;
	return address_cache_make(cache, &address);
}

struct source_place {
	const struct module *module;
	uint64_t offset;
	uint32_t pid;    /* process, as in struct location */
	uint32_t number; /* set and used by the caller */
	const struct source_frame *innermost; /* result; NULL: nothing found */
};

struct source_places {
	VEC(struct source_place); /* after the lookup: sorted by module and offset */
	size_t *first_source;     /* by module: global number of its first source frame */
	size_t source_count;
};

/*
 * Finds the innermost function of each place with up to `threads` threads. Without `lines`, a frame's
 * line may be that of another place in its function. Fails only when out of memory.
 */
struct sp_error *source_places_find(struct source_places *places,
				    const struct symbolizer *symbolizer, bool lines,
				    unsigned int threads) SP_MUST_CHECK;

/* A zeroed struct source_places may be released. */
void source_places_deinit(struct source_places *places);

/* Returns the place at an offset; NULL if it was not looked up. */
const struct source_place *source_places_at(const struct source_places *places,
					    const struct location *location);

/* Converts the number of a module's source frame to its global number. */
static inline size_t source_places_number(const struct source_places *places,
					  const struct module *module,
					  const struct source_frame *source)
{
	return places->first_source[module->index] + source->number;
}
