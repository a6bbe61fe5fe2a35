/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recorded kernel's symbol table, one for a resolver, found on first use. */
#ifndef SYMBOL_KERNEL_H
#define SYMBOL_KERNEL_H

#include "proc/kallsyms.h"
#include "symbol/source.h"

/* Safe from several threads. */
struct kernel_names;

struct sp_error *kernel_names_new(struct kernel_names **ret) SP_MUST_CHECK;
void kernel_names_free(struct kernel_names *kernel);

/*
 * The table of the kernel that `module` (its core, or a module of it) was part
 * of; NULL where none is at hand that is certainly of that kernel, and
 * *diagnosis then says why. Addresses in it need kernel_shift() added.
 */
struct sp_error *kernel_names_get(const struct source_env *env, const struct module *module,
				  struct diagnosis *diagnosis,
				  const struct kallsyms **ret) SP_MUST_CHECK;

/*
 * What KASLR put between the table and the recording: run-time address minus
 * the table's, by the reference symbol. False where the table lacks the symbol.
 */
bool kernel_shift(const struct kallsyms *kallsyms, const struct module *module, uint64_t *ret);

/* Whether the recording's kernel is the one that runs here, by build-id or else by release. */
bool kernel_runs_here(struct sp_ctx *ctx, const struct resolver_options *options);

#endif
