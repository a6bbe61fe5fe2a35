/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorded kernel's symbols, read on first use from the first of: the given --kallsyms; sprof's
 * cache by build-id (proc/kernel_cache.h); /proc/kallsyms if the recorded kernel is the running one;
 * perf's build-id cache. If the recording has no kernel build-id, the running kernel must have the same
 * release and the same address of the reference symbol, because a restart usually changes it (KASLR).
 */
#pragma once

#include "proc/kallsyms.h"
#include "symbol/source.h"

/* Tables of the recorded kernel, shared by all kernel modules of a resolver. Thread-safe. */

struct sp_error *kernel_tables_new(struct kernel_tables **ret) SP_MUST_CHECK;
void kernel_tables_free(struct kernel_tables *kernel);

/* Sets the cached table of the recorded kernel, and takes it back (NULL: it was not used). */
void kernel_tables_set_cached(struct kernel_tables *kernel, struct kallsyms *kallsyms);
struct kallsyms *kernel_tables_take_cached(struct kernel_tables *kernel);

/* A symbol table, and the shift of its addresses: recorded address = address + shift. */
struct kernel_symbols {
	const struct kallsyms *kallsyms; /* the tables' own, or `owned`; NULL: none */
	struct kallsyms *owned;          /* the caller frees it; or NULL */
	const char *within;              /* use only this module's symbols; NULL: those of no module */
	uint64_t shift;
};

/*
 * Finds symbols of a MODULE_KERNEL or MODULE_KERNEL_MODULE. kallsyms is NULL if no table is certainly
 * the recorded kernel's; *diagnosis then has the reason. `name` is the module's name in kallsyms. Fails
 * only when out of memory.
 */
struct sp_error *kernel_symbols_find(const struct source_env *env, const struct module *module,
				     const char *name, struct diagnosis *diagnosis,
				     struct kernel_symbols *ret) SP_MUST_CHECK;

/*
 * Returns facts of the recording. Its kernel is compared with the running one by build-id, or else by
 * release, and then the host must not be another one; its host is compared by name. Borrows from
 * the options.
 */
struct provenance resolver_provenance(struct sp_ctx *ctx, const struct resolver_options *options);
