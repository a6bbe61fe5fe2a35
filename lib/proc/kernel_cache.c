/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The content of a cache file is that of kallsyms_encode(): symbols are found in it without parsing
 * it.
 */
#include "proc/kernel_cache.h"

#include <stdio.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/disk_cache.h"
#include "proc/loaded_modules.h"
#include "proc/sysfs.h"

#define BUILD_ID_MAX 20

static const char *const folders[] = {
	[KERNEL_CACHE_KERNEL] = "kernel",
	[KERNEL_CACHE_MODULE] = "module",
};

/* Memory of a disk_key. */
struct kernel_key {
	char hex[2 * BUILD_ID_MAX + 1], identity[2 * BUILD_ID_MAX + 32];
};

static struct disk_key make_key(const uint8_t *build_id, size_t size, struct kernel_key *texts)
{
	bytes_to_hex(build_id, size < BUILD_ID_MAX ? size : BUILD_ID_MAX, texts->hex);
	snprintf(texts->identity, sizeof(texts->identity), "kallsyms of %s", texts->hex);
	return (struct disk_key){texts->hex, texts->identity};
}

/* Whether the cache has symbols of that build-id. They are not checked. */
static bool is_saved(int folder, const uint8_t *build_id, size_t size)
{
	struct kernel_key texts;
	const struct disk_key key = make_key(build_id, size, &texts);
	return disk_cache_has(folder, &key);
}

/* Writes the cache file of the kernel (`module` NULL) or of one module. */
static struct sp_error *save_symbols(int folder, const uint8_t *build_id, size_t build_id_size,
				     const struct kallsyms *kallsyms,
				     const struct kernel_module *module)
{
	struct kernel_key texts;
	const struct disk_key key = make_key(build_id, build_id_size, &texts);
	/* Without the module's data: since Linux 6.4 it is not next to the code. */
	const struct kallsyms_part part = {
		.module = module ? module->name : NULL,
		.start = module ? module->start : 0,
		.size = module ? module->size : UINT64_MAX,
		.base = module ? KERNEL_CACHE_MODULE_BASE : 0,
	};
	CLEANUP_FREE uint8_t *bytes = NULL;
	size_t size;
	TRY(kallsyms_encode(kallsyms, &part, &bytes, &size));
	return disk_cache_add(folder, &key, bytes, size);
}

/* Content to save: the running kernel and its modules. */
struct running {
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	struct kernel_modules modules;
	int kernel_folder, module_folder; /* -1: none */
	bool missing; /* the kernel or a module is not in the cache yet */
};

static void running_deinit(struct running *running)
{
	kernel_modules_deinit(&running->modules);
	cleanup_close(&running->kernel_folder);
	cleanup_close(&running->module_folder);
}

static bool needs_saving(const struct running *running, const struct kernel_module *module)
{
	return module->build_id_size > 0 && module->start != 0 &&
	       !is_saved(running->module_folder, module->build_id, module->build_id_size);
}

/* Opens the folders that are not open yet. */
static struct sp_error *open_folders(struct sp_ctx *ctx, struct running *running, bool make)
{
	struct sp_error *error = NULL;
	if (running->kernel_folder < 0)
		error = disk_cache_folder(ctx, folders[KERNEL_CACHE_KERNEL], make,
					  &running->kernel_folder);
	if (!error && running->module_folder < 0)
		error = disk_cache_folder(ctx, folders[KERNEL_CACHE_MODULE], make,
					  &running->module_folder);
	return error;
}

/* Finds what is not in the cache yet. `missing` stays false if nothing can or must be saved. */
static struct sp_error *running_look(struct sp_ctx *ctx, struct running *ret)
{
	if (!ctx_cache_path(ctx) || !*ctx_cache_path(ctx))
		return NULL;
	struct sp_error *error = sysfs_kernel_build_id(ctx, ret->build_id, &ret->build_id_size);
	if (error || ret->build_id_size == 0)
		return error;
	TRY(kernel_modules_read(ctx, NULL, &ret->modules));
	TRY(open_folders(ctx, ret, false));
	ret->missing = !is_saved(ret->kernel_folder, ret->build_id, ret->build_id_size);
	vec_each (module, &ret->modules)
		ret->missing = ret->missing || needs_saving(ret, module);
	return NULL;
}

static struct sp_error *save_missing(const struct running *running, const struct kallsyms *kallsyms)
{
	struct sp_error *error = NULL;
	if (kallsyms_hidden(kallsyms))
		return NULL;
	if (!is_saved(running->kernel_folder, running->build_id, running->build_id_size))
		error = save_symbols(running->kernel_folder, running->build_id,
				     running->build_id_size, kallsyms, NULL);
	for (size_t i = 0; !error && i < running->modules.count; i++) {
		const struct kernel_module *module = &running->modules.items[i];
		if (needs_saving(running, module))
			error = save_symbols(running->module_folder, module->build_id,
					     module->build_id_size, kallsyms, module);
	}
	return error;
}

/* Saves what is missing. If `kallsyms` is NULL, /proc/kallsyms is read. */
static struct sp_error *save(struct sp_ctx *ctx, const struct kallsyms *kallsyms)
{
	CLEANUP(running_deinit) struct running running = {.kernel_folder = -1, .module_folder = -1};
	CLEANUP(cleanup_kallsyms_free) struct kallsyms *own = NULL;
	struct kernel_reference reference;
	struct sp_error *error = running_look(ctx, &running);
	if (error || !running.missing || (!kallsyms && !kallsyms_reference(ctx, &reference)))
		return error;
	/* Open folders before reading kallsyms: it is cheap and may fail. */
	error = open_folders(ctx, &running, true);
	if (error || running.kernel_folder < 0 || running.module_folder < 0)
		return error;
	if (!kallsyms)
		error = kallsyms_read(ctx, NULL, &own);
	return error ?: save_missing(&running, kallsyms ?: own);
}

struct sp_error *kernel_cache_save(struct sp_ctx *ctx)
{
	return save(ctx, NULL);
}

struct sp_error *kernel_cache_save_read(struct sp_ctx *ctx, const struct kallsyms *kallsyms)
{
	return save(ctx, kallsyms);
}

struct sp_error *kernel_cache_load(struct sp_ctx *ctx, enum kernel_cache_kind kind,
				   const uint8_t *build_id, size_t size, struct kallsyms **ret)
{
	struct kernel_key texts;
	CLEANUP_CLOSE int folder = -1;
	CLEANUP(cleanup_disk_entry_free) struct disk_entry *entry = NULL;
	*ret = NULL;
	if (size == 0 || size > BUILD_ID_MAX)
		return NULL;
	const struct disk_key key = make_key(build_id, size, &texts);
	struct sp_error *error = disk_cache_folder(ctx, folders[kind], false, &folder);
	if (!error)
		error = disk_cache_open(folder, &key, &entry);
	return error || !entry ? error : kallsyms_open(take_ptr(entry), ret);
}
