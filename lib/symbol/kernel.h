/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The recorded kernel's symbols, found on first use: the --kallsyms that was
 * given; what was kept of that build-id (proc/kernel_cache.h); /proc/kallsyms
 * where that kernel runs here; perf's build-id cache. Nothing is guessed from the
 * kernel at hand: without a build-id in the recording it must be of the same release,
 * and lie where it lay, so that it was not even restarted since.
 */
#ifndef SYMBOL_KERNEL_H
#define SYMBOL_KERNEL_H

#include "proc/kallsyms.h"
#include "symbol/source.h"

/* Safe from several threads. One for a resolver: all kernel modules share the table. */
struct kernel_names;

struct sp_error *kernel_names_new(struct kernel_names **ret) SP_MUST_CHECK;
void kernel_names_free(struct kernel_names *kernel);

/* A table, and how its addresses lead to the recording's: run time = address + shift. */
struct kernel_symbols {
	const struct kallsyms *kallsyms; /* the kernel_names', or `owned`; NULL: none */
	struct kallsyms *owned;          /* to be freed; or NULL */
	const char *within;              /* symbols of that module alone; NULL: of none */
	uint64_t shift;
};

/*
 * Symbols of MODULE_KERNEL or MODULE_KERNEL_MODULE. kallsyms is NULL where none
 * are at hand that are certainly the recorded kernel's; *diagnosis then says why.
 * `name` is the module's as kallsyms has it. Fails only when out of memory.
 */
struct sp_error *kernel_symbols_find(const struct source_env *env, const struct module *module,
				     const char *name, struct diagnosis *diagnosis,
				     struct kernel_symbols *ret) SP_MUST_CHECK;

/*
 * Origin of the recording. Compares its kernel with the running one by build-id, or else by release,
 * and its host by name. Borrows from the options.
 */
struct provenance resolver_provenance(struct sp_ctx *ctx, const struct resolver_options *options);

#endif
