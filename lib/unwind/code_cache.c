/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind/code_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include "base/vec.h"

/*
 * Unused files are dropped when all are twice as many, or as large, as those in use at the last
 * drop, within these limits: see code_cache_is_large(). If those in use exceed half of the upper
 * limits, all are dropped, and read again.
 */
#define KEPT_BYTES_MIN ((size_t)16 << 20)
#define KEPT_BYTES ((size_t)64 << 20)
#define KEPT_FILES_MIN ((size_t)256)
#define KEPT_FILES ((size_t)2048)
#define KEPT_OPEN ((size_t)CODE_OPEN_MAX * 3 / 4)

struct cached_code {
	struct code *code; /* NULL: never needed */
	bool used;         /* since files were last dropped */
};

struct code_cache {
	struct code_shared shared;
	atomic_size_t files_most, bytes_most; /* above these, files are dropped */
	pthread_mutex_t lock; /* protects `items` */
	VEC(struct cached_code) items; /* by module->index */
};

struct code_cache *code_cache_new(struct sp_ctx *ctx, const char *arch,
				  const struct unwind_files *files)
{
	struct code_cache *cache = calloc(1, sizeof(*cache));
	if (!cache)
		return NULL;
	cache->shared.ctx = ctx;
	cache->shared.files = *files;
	cache->files_most = KEPT_FILES_MIN;
	cache->bytes_most = KEPT_BYTES_MIN;
	for (uint64_t abi = PERF_SAMPLE_REGS_ABI_32; abi <= PERF_SAMPLE_REGS_ABI_64; abi++) {
		const struct unwind_arch *found = arch_find(arch, abi);
		cache->shared.machine[abi - PERF_SAMPLE_REGS_ABI_32] =
			found ? found->machine : EM_NONE;
	}
	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void code_cache_free(struct code_cache *cache)
{
	if (!cache)
		return;
	vec_each (item, &cache->items)
		code_free(item->code);
	vec_deinit(&cache->items);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

bool code_cache_is_large(const struct code_cache *cache)
{
	const struct code_shared *shared = &cache->shared;
	return atomic_load_explicit(&shared->bytes, memory_order_relaxed) > cache->bytes_most ||
	       atomic_load_explicit(&shared->file_count, memory_order_relaxed) >
		       cache->files_most ||
	       atomic_load_explicit(&shared->open_count, memory_order_relaxed) > KEPT_OPEN;
}

bool code_cache_is_full(const struct code_cache *cache)
{
	return code_shared_is_full(&cache->shared);
}

/* Drops all files, or those that were not used since the last time. Returns their number. */
static size_t drop(struct code_cache *cache, bool all)
{
	size_t bytes = 0, files = 0, open = 0, dropped = 0;
	vec_each (item, &cache->items) {
		if (!item->code)
			continue;
		if (all || !item->used) {
			code_free(take_ptr(item->code));
			dropped++;
			continue;
		}
		item->used = false;
		bytes += code_bytes(item->code);
		open += code_is_open(item->code);
		files++;
	}
	atomic_store(&cache->shared.bytes, bytes);
	atomic_store(&cache->shared.file_count, files);
	atomic_store(&cache->shared.open_count, open);
	return dropped;
}

static size_t clamp_double(size_t in_use, size_t least, size_t most)
{
	return 2 * in_use < least ? least : 2 * in_use > most ? most : 2 * in_use;
}

size_t code_cache_drop(struct code_cache *cache, bool all)
{
	struct code_shared *shared = &cache->shared;
	pthread_mutex_lock(&cache->lock);
	size_t count = drop(cache, all);
	if (atomic_load(&shared->bytes) > KEPT_BYTES / 2 ||
	    atomic_load(&shared->file_count) > KEPT_FILES / 2 ||
	    atomic_load(&shared->open_count) > KEPT_OPEN / 2)
		count += drop(cache, true);
	cache->bytes_most = clamp_double(atomic_load(&shared->bytes), KEPT_BYTES_MIN, KEPT_BYTES);
	cache->files_most =
		clamp_double(atomic_load(&shared->file_count), KEPT_FILES_MIN, KEPT_FILES);
	if (all)
		vec_deinit(&cache->items);
	pthread_mutex_unlock(&cache->lock);
	return count;
}

/* Returns the module's place in the cache, with its code; NULL when out of memory. */
static struct cached_code *find_or_add(struct code_cache *cache, const struct module *module,
				       uint32_t pid)
{
	while (cache->items.count <= module->index) {
		struct cached_code *item = vec_push(&cache->items);
		if (!item)
			return NULL;
		*item = (struct cached_code){0};
	}
	struct cached_code *item = &cache->items.items[module->index];
	if (!item->code)
		item->code = code_new(&cache->shared, module, pid);
	return item->code ? item : NULL;
}

const struct code *code_cache_get(struct code_cache *cache, const struct module *module,
				  uint32_t pid)
{
	pthread_mutex_lock(&cache->lock);
	struct cached_code *item = find_or_add(cache, module, pid);
	const struct code *code = item ? item->code : NULL;
	if (item)
		item->used = true;
	pthread_mutex_unlock(&cache->lock);
	if (code)
		code_need_eh_frame(code);
	return code;
}

const char *code_cache_problem(struct code_cache *cache, const struct module *module)
{
	pthread_mutex_lock(&cache->lock);
	struct code *code =
		module->index < cache->items.count ? cache->items.items[module->index].code : NULL;
	pthread_mutex_unlock(&cache->lock);
	return code ? code_problem(code) : NULL;
}
