/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cache of kernel symbols by build-id, so that kernel addresses of a recording can be symbolized
 * after a reboot or update: CACHE/kernel/BUILD-ID, and for modules, with addresses relative to the
 * module's load address, CACHE/module/BUILD-ID.
 */
#pragma once

#include "base/ctx.h"
#include "proc/kallsyms.h"

enum kernel_cache_kind { KERNEL_CACHE_KERNEL, KERNEL_CACHE_MODULE };

/* First address of a module in its cache file, so that no address is 0. */
#define KERNEL_CACHE_MODULE_BASE ((uint64_t)0x10000)

/*
 * Saves the symbols of the running kernel and its modules. Costs 0.1 ms if all are saved already,
 * else 50 ms to read /proc/kallsyms: call it at the end of a recording. Does nothing, without an
 * error, if there is no cache or build-id, or if kptr_restrict hides the addresses. Files are
 * written atomically.
 */
struct sp_error *kernel_cache_save(struct sp_ctx *ctx) SP_MUST_CHECK;

/* Saves symbols of the running kernel that the caller has read already. */
struct sp_error *kernel_cache_save_read(struct sp_ctx *ctx,
					const struct kallsyms *kallsyms) SP_MUST_CHECK;

/*
 * Loads an entry. NULL if there is none, or if it is damaged, has another format, or belongs to
 * another user (not root). Fails only when out of memory.
 */
struct sp_error *kernel_cache_load(struct sp_ctx *ctx, enum kernel_cache_kind kind,
				   const uint8_t *build_id, size_t size,
				   struct kallsyms **ret) SP_MUST_CHECK;
