/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The code of all modules, each read when first needed. Thread-safe. */
#pragma once

#include "unwind/code.h"

/* `arch` is the architecture of the recording's 64-bit programs. Returns NULL when out of memory.
 */
struct code_cache *code_cache_new(struct sp_ctx *ctx, const char *arch,
				  const struct unwind_files *files);
void code_cache_free(struct code_cache *cache);

/* Returns the code of a module, which the cache owns; NULL when out of memory. */
const struct code *code_cache_get(struct code_cache *cache, const struct module *module,
				  uint32_t pid);

/* Returns whether a recorder that runs for long should call code_cache_drop(). */
bool code_cache_is_large(const struct code_cache *cache);
/* Returns whether the files' bytes_max is reached. */
bool code_cache_is_full(const struct code_cache *cache);

/*
 * Drops the modules that code_cache_get() has not returned since the last call, or all if the rest
 * is too large. `all` drops all, and modules may get other indices. Returns their number. Earlier
 * results of code_cache_get() are invalid afterwards.
 */
size_t code_cache_drop(struct code_cache *cache, bool all);

/* Returns the text of unwinder_problem(). */
const char *code_cache_problem(struct code_cache *cache, const struct module *module);
