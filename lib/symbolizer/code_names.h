/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modules that are added over time, and a resolver for them, for any number of threads. Everything that
 * was found stays until the end.
 */
#pragma once

#include <pthread.h>
#include "machine/modules.h"
#include "symbol/resolver.h"

/* Number of locks, which modules share. */
#define CODE_NAMES_LOCKS 64

struct code_names {
	struct sp_ctx *ctx;
	pthread_mutex_t lock;   /* protects `modules` and `has_lines` */
	struct modules modules; /* not sealed: modules are complete when they are added */
	VEC(uint8_t) has_lines; /* by module->index: 0 unknown, 1 no, 2 yes */
	struct sp_names *found; /* makes the resolver keep all lines that it found */
	struct resolver *resolver;
	pthread_mutex_t locks[CODE_NAMES_LOCKS];
};

/* A zeroed struct may be released. The options' texts are borrowed. */
struct sp_error *code_names_init(struct code_names *names, struct sp_ctx *ctx,
				 const struct resolver_options *options) SP_MUST_CHECK;
void code_names_deinit(struct code_names *names);

/* Kind of the mapping that a module is added for. */
enum code_kind { CODE_USER, CODE_JITDUMP, CODE_KERNEL };

/*
 * Adds the module of a mapping; equal ones are one module, as long as the names. *mapping_ret is its
 * mapping. *ret is NULL if a CODE_JITDUMP is no jitdump. Fails only when out of memory.
 */
struct sp_error *code_names_add(struct code_names *names, enum code_kind kind,
				const struct sp_mmap *mmap, const struct module **ret,
				struct mapping *mapping_ret) SP_MUST_CHECK;

/* Locks a module and returns the lock: the resolver may be called for the module until it is unlocked. */
pthread_mutex_t *code_names_lock(struct code_names *names, const struct module *module);

/*
 * Finds functions and lines like resolver_sources(), with the module locked. A module without debug
 * information is searched once.
 */
struct sp_error *code_names_sources(struct code_names *names, const struct source_query *query,
				    struct source_frames *ret) SP_MUST_CHECK;
