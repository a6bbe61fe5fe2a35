/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A resolver that several threads use. Modules share a fixed number of locks. Report and script
 * resolve each address through it, and keep results in each thread's address cache.
 */
#pragma once

#include <pthread.h>
#include "symbol/resolver.h"

#define RESOLVER_LOCKS 64

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

struct locked_resolver {
	const struct machine *machine; /* sealed; borrowed */
	struct resolver *resolver;     /* borrowed */
	struct source_finder finder;   /* `has` is NULL if no debug information is wanted */
	pthread_mutex_t locks[RESOLVER_LOCKS];
	uint8_t *has_sources;          /* by module, under its lock: 0 unknown, 1 no, 2 yes */
};

/* A zeroed struct locked_resolver may be released. `finder` may be NULL. */
struct sp_error *locked_resolver_init(struct locked_resolver *locked, const struct machine *machine,
				      struct resolver *resolver,
				      const struct source_finder *finder) SP_MUST_CHECK;

void locked_resolver_deinit(struct locked_resolver *locked);

/*
 * Locks a module and returns the lock. The resolver may be called for the module until it is
 * unlocked.
 */
pthread_mutex_t *locked_resolver_lock(struct locked_resolver *locked, const struct module *module);

/* Returns the symbol, or NULL. Call it with the module locked. */
const struct symbol *locked_resolver_symbol(struct locked_resolver *locked,
					     const struct location *location, bool caller);

/*
 * Returns whether debug information may know more of a module's code. Call it with the module
 * locked.
 */
bool locked_resolver_has_sources(struct locked_resolver *locked, const struct module *module,
				 uint32_t pid);
