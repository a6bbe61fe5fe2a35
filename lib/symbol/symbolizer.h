/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a resolver usable by several threads, by one lock for each module. Report and script look up
 * each address through a symbolizer, and keep results in each thread's address cache.
 */
#ifndef SYMBOL_SYMBOLIZER_H
#define SYMBOL_SYMBOLIZER_H

#include <pthread.h>
#include "machine/ip_maps.h"
#include "symbol/resolver.h"

/* Number of locks, which modules share. */
#define SYMBOLIZER_LOCKS 64

/* Callbacks to find functions and lines: those of the resolver, or a test's. */
struct source_finder {
	bool (*has)(void *arg, const struct module *module, uint32_t pid);
	struct sp_error *(*find)(void *arg, const struct source_query *query,
				 struct source_frames *ret);
	void *arg;
};

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
 * Locks a module and returns the lock. The resolver may be called for the module until it is unlocked.
 */
pthread_mutex_t *symbolizer_lock(struct symbolizer *symbolizer, const struct module *module);

/* Returns the symbol, and whether debug information may know more. Call it with the module locked. */
const struct symbol *symbolizer_symbol(struct symbolizer *symbolizer,
				       const struct location *location, bool caller);
bool symbolizer_has_sources(struct symbolizer *symbolizer, const struct module *module, uint32_t pid);

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
	struct u64map *map = ip_maps_find(&cache->maps, cache->machine, address.view, address.cpumode,
					  address.caller);
	const uint32_t *known = map ? u64map_find(map, address.ip) : NULL;
	if (__builtin_expect(known != NULL, 1))
		return *known;
	return address_cache_make(cache, &address);
}

#endif
