/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/symbolizer.h"

#include <stdlib.h>
#include "base/error.h"

struct sp_error *symbolizer_init(struct symbolizer *symbolizer, const struct machine *machine,
				 struct resolver *resolver, const struct source_finder *finder)
{
	pthread_mutexattr_t short_waits;
	*symbolizer = (struct symbolizer){.machine = machine, .resolver = resolver};
	if (finder)
		symbolizer->finder = *finder;
	pthread_mutexattr_init(&short_waits);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	/* The lock is held for less than a microsecond, except when a module is opened. */
	pthread_mutexattr_settype(&short_waits, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	for (size_t i = 0; i < SYMBOLIZER_LOCKS; i++)
		pthread_mutex_init(&symbolizer->locks[i], &short_waits);
	pthread_mutexattr_destroy(&short_waits);
	symbolizer->has_sources = calloc(machine_module_count(machine) + 1, 1);
	return symbolizer->has_sources ? NULL : error_no_memory();
}

void symbolizer_deinit(struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < SYMBOLIZER_LOCKS && symbolizer->machine; i++)
		pthread_mutex_destroy(&symbolizer->locks[i]);
	free(symbolizer->has_sources);
}

pthread_mutex_t *symbolizer_lock(struct symbolizer *symbolizer, const struct module *module)
{
	pthread_mutex_t *lock = &symbolizer->locks[module->index % SYMBOLIZER_LOCKS];
	pthread_mutex_lock(lock);
	return lock;
}

const struct symbol *symbolizer_symbol(struct symbolizer *symbolizer,
				       const struct location *location, bool caller)
{
	return caller ? resolver_find_caller(symbolizer->resolver, location) :
			resolver_find(symbolizer->resolver, location);
}

bool symbolizer_has_sources(struct symbolizer *symbolizer, const struct module *module, uint32_t pid)
{
	const struct source_finder *finder = &symbolizer->finder;
	uint8_t *known = &symbolizer->has_sources[module->index];
	if (!finder->has)
		return false;
	if (!*known)
		*known = 1 + finder->has(finder->arg, module, pid);
	return *known == 2;
}

uint32_t address_cache_make(struct address_cache *cache, const struct code_address *address)
{
	uint32_t made = cache->make(cache->arg, address);
	/* `make` may have added to the maps, which moves them. */
	struct u64map *map = ip_maps_find(&cache->maps, cache->machine, address->view,
					  address->cpumode, address->caller);
	if (!map || made == ADDRESS_CACHE_FAILED || !u64map_put(map, address->ip, made, NULL))
		return ADDRESS_CACHE_FAILED;
	return made;
}
