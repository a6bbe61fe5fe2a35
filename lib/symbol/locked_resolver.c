/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/locked_resolver.h"

#include <stdlib.h>
#include "base/error.h"

static bool has_sources(void *resolver, const struct module *module, uint32_t pid)
{
	return resolver_has_sources(resolver, module, pid);
}

static struct sp_error *find_sources(void *resolver, const struct source_query *query,
				     struct source_frames *ret)
{
	return resolver_sources(resolver, query, ret);
}

struct source_finder source_finder_of(struct resolver *resolver, struct sp_ctx *ctx)
{
	return (struct source_finder){has_sources, find_sources, resolver, ctx};
}

struct sp_error *locked_resolver_init(struct locked_resolver *locked, const struct machine *machine,
				 struct resolver *resolver, const struct source_finder *finder)
{
	pthread_mutexattr_t short_waits;
	*locked = (struct locked_resolver){.machine = machine, .resolver = resolver};
	if (finder)
		locked->finder = *finder;
	pthread_mutexattr_init(&short_waits);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	/* The lock is held for less than a microsecond, except when a module is opened. */
	pthread_mutexattr_settype(&short_waits, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	for (size_t i = 0; i < RESOLVER_LOCKS; i++)
		pthread_mutex_init(&locked->locks[i], &short_waits);
	pthread_mutexattr_destroy(&short_waits);
	locked->has_sources = calloc(machine_module_count(machine) + 1, 1);
	return locked->has_sources ? NULL : error_no_memory();
}

void locked_resolver_deinit(struct locked_resolver *locked)
{
	for (size_t i = 0; i < RESOLVER_LOCKS && locked->machine; i++)
		pthread_mutex_destroy(&locked->locks[i]);
	free(locked->has_sources);
}

pthread_mutex_t *locked_resolver_lock(struct locked_resolver *locked, const struct module *module)
{
	pthread_mutex_t *lock = &locked->locks[module->index % RESOLVER_LOCKS];
	pthread_mutex_lock(lock);
	return lock;
}

const struct symbol *locked_resolver_symbol(struct locked_resolver *locked,
				       const struct location *location, bool caller)
{
	return caller ? resolver_find_caller(locked->resolver, location) :
			resolver_find(locked->resolver, location);
}

bool locked_resolver_has_sources(struct locked_resolver *locked, const struct module *module,
			    uint32_t pid)
{
	const struct source_finder *finder = &locked->finder;
	uint8_t *known = &locked->has_sources[module->index];
	if (!finder->has)
		return false;
	if (!*known)
		*known = 1 + finder->has(finder->arg, module, pid);
	return *known == 2;
}
