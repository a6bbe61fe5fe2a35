/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols of kernels that ran here, kept by build-id, so that a recording has
 * its kernel names after a reboot too: CACHE/kernel/BUILD-ID, and for modules,
 * with addresses from where each was loaded, CACHE/module/BUILD-ID.
 */
#ifndef PROC_KERNEL_CACHE_H
#define PROC_KERNEL_CACHE_H

#include "base/ctx.h"
#include "proc/kallsyms.h"

enum kernel_cache_kind { KERNEL_CACHE_KERNEL, KERNEL_CACHE_MODULE };

/* First address of a module in its cache file, so that no address is 0. */
#define KERNEL_CACHE_MODULE_BASE ((uint64_t)0x10000)

/*
 * Keeps the running kernel and its modules. Costs 0.1 ms where all are there
 * already, else one reading of /proc/kallsyms (50 ms): for the end of a recording.
 * Nothing is done, and that is no error, where there is no cache, no build-id, or
 * kptr_restrict hides the addresses. What is written appears whole or not at all.
 */
struct sp_error *kernel_cache_save(struct sp_ctx *ctx) SP_MUST_CHECK;

/* The same where the running kernel's symbols were read anyway. */
struct sp_error *kernel_cache_save_read(struct sp_ctx *ctx,
					const struct kallsyms *kallsyms) SP_MUST_CHECK;

/*
 * Loads an entry. NULL if there is none, or if it is damaged, of another format, or another user's.
 * Fails only when out of memory.
 */
struct sp_error *kernel_cache_load(struct sp_ctx *ctx, enum kernel_cache_kind kind,
				   const uint8_t *build_id, size_t size,
				   struct kallsyms **ret) SP_MUST_CHECK;

#endif
