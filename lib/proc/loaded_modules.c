/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of /proc/modules is "NAME SIZE REFERENCES USERS STATE 0xADDRESS", with
 * the address of the module's code. The module's file is found by its base name in modules.dep
 * ("kernel/…/snd-hda-intel.ko.xz: …"), which may have '-' for '_'.
 */
#include "proc/loaded_modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/vec.h"
#include "proc/sysfs.h"
#include "proc/proc_text.h"

/* Buffer size for a module's name (the kernel's MODULE_NAME_LEN is 64). */
#define NAME_LIMIT 128

static bool parse_line(struct cursor *line, struct kernel_module *module, const char **name_ret,
		       size_t *name_size_ret)
{
	const char *ignored;
	size_t ignored_size;
	if (!text_word(line, name_ret, name_size_ret) || !text_char(line, ' ') ||
	    !text_decimal(line, &module->size))
		return false;
	for (int i = 0; i < 3; i++)
		if (!text_char(line, ' ') || !text_word(line, &ignored, &ignored_size))
			return false;
	return text_char(line, ' ') && text_char(line, '0') && text_char(line, 'x') &&
	       text_hex(line, &module->start);
}

static struct sp_error *add_module(struct kernel_modules *modules, struct cursor *line)
{
	struct kernel_module module = {0};
	const char *name;
	size_t size;
	if (!parse_line(line, &module, &name, &size) || size > NAME_LIMIT)
		return cursor_error(line, "not a line of modules");
	module.name = arena_copy_string(&modules->arena, name, size);
	char *path = arena_alloc(&modules->arena, size + 3);
	struct kernel_module *slot = module.name && path ? vec_push(modules) : NULL;
	NEED(slot);
	path[0] = '[';
	memcpy(path + 1, name, size);
	path[size + 1] = ']';
	module.path = path;
	*slot = module;
	return NULL;
}

DEFINE_ORDER(compare_modules, struct kernel_module, start)

/*
 * Sorts by address and limits sizes. Since Linux 6.4 a module has several memory areas, and its size
 * is their sum: without the limit, it could overlap the next module.
 */
static void sort_and_clip(struct kernel_module *modules, size_t count)
{
	if (count)
		qsort(modules, count, sizeof(*modules), compare_modules);
	for (size_t i = 0; i < count; i++) {
		struct kernel_module *module = &modules[i];
		if (module->size > UINT64_MAX - module->start)
			module->size = UINT64_MAX - module->start;
		if (i + 1 < count && modules[i + 1].start > module->start &&
		    modules[i + 1].start - module->start < module->size)
			module->size = modules[i + 1].start - module->start;
	}
}

/* Loaded modules by name. */
struct by_name {
	struct u64map map; /* hash -> index; the first of equal hashes */
	struct kernel_module *modules;
};

static struct kernel_module *find_module(const struct by_name *by_name, const char *name,
					 size_t size)
{
	const uint32_t *index = u64map_find(&by_name->map, hash_bytes(name, size));
	if (!index)
		return NULL;
	struct kernel_module *module = &by_name->modules[*index];
	return strlen(module->name) == size && memcmp(module->name, name, size) == 0 ? module
										     : NULL;
}

/* Converts "kernel/sound/snd-hda-intel.ko.xz" to "snd_hda_intel"; 0 if it is not a module's file. */
static size_t module_name(const char *path, size_t size, char name[NAME_LIMIT])
{
	const char *slash = memrchr(path, '/', size);
	const char *base = slash ? slash + 1 : path;
	size_t left = size - (size_t)(base - path);
	const char *suffix = memmem(base, left, ".ko", 3);
	size_t length = suffix ? (size_t)(suffix - base) : 0;
	if (length > NAME_LIMIT)
		return 0;
	for (size_t i = 0; i < length; i++)
		name[i] = base[i] == '-' ? '_' : base[i];
	return length;
}

static struct sp_error *set_path(struct arena *arena, struct kernel_module *module,
				 const char *folder, const char *path, size_t size)
{
	/* Paths outside of the folder are absolute. */
	size_t folder_size = size && *path == '/' ? 0 : strlen(folder);
	char *whole = arena_alloc(arena, folder_size + size + 1);
	NEED(whole);
	memcpy(whole, folder, folder_size);
	memcpy(whole + folder_size, path, size);
	module->path = whole;
	return NULL;
}

static struct sp_error *find_files(const struct sp_ctx *ctx, const char *folder,
				   const struct by_name *by_name, struct arena *arena)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	CLEANUP_FREE char *dep = format_text("%smodules.dep", folder);
	NEED(dep);
	/* Without modules.dep, modules keep the path "[name]". */
	int errnum = sysfs_read(ctx, dep, &text, &size);
	if (errnum)
		return errnum == ENOMEM ? error_no_memory() : NULL;
	struct cursor cursor = cursor_make(text, size, false, dep, 0), line;
	while (text_line(&cursor, &line)) {
		char name[NAME_LIMIT];
		const char *path = (const char *)line.pos;
		const char *colon = memchr(path, ':', cursor_left(&line));
		size_t path_size = colon ? (size_t)(colon - path) : 0;
		size_t name_size = module_name(path, path_size, name);
		struct kernel_module *module = find_module(by_name, name, name_size);
		TRY(module ? set_path(arena, module, folder, path, path_size) : NULL);
	}
	return NULL;
}

static void read_build_id(const struct sp_ctx *ctx, struct kernel_module *module)
{
	char path[NAME_LIMIT + 64];
	CLEANUP_FREE char *notes = NULL;
	size_t size;
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module->name);
	if (sysfs_read(ctx, path, &notes, &size) == 0)
		module->build_id_size = notes_build_id(notes, size, module->build_id);
}

/* Sets *ret to "/lib/modules/RELEASE/"; the caller frees it. */
static struct sp_error *module_folder(const struct sp_ctx *ctx, const char *osrelease, char **ret)
{
	CLEANUP_FREE char *running = NULL;
	size_t size;
	*ret = NULL;
	if (!osrelease) {
		if (sysfs_read(ctx, "/proc/sys/kernel/osrelease", &running, &size))
			return NULL;
		running[strcspn(running, "\n")] = 0;
		osrelease = running;
	}
	*ret = format_text("/lib/modules/%s/", osrelease);
	return *ret ? NULL : error_no_memory();
}

struct sp_error *kernel_modules_read(const struct sp_ctx *ctx, const char *osrelease,
				     struct kernel_modules *modules)
{
	static const char path[] = "/proc/modules";
	CLEANUP_FREE char *text = NULL;
	size_t size, before = modules->count;
	int errnum = sysfs_read(ctx, path, &text, &size);
	if (errnum == ENOENT)
		return NULL;
	if (errnum)
		return error_os(errnum, "%s", path);
	struct cursor cursor = cursor_make(text, size, false, path, 0), line;
	while (text_line(&cursor, &line))
		TRY(add_module(modules, &line));
	size_t count = modules->count - before;
	if (!count)
		return NULL;
	struct kernel_module *added = modules->items + before;
	sort_and_clip(added, count);
	for (size_t i = 0; i < count; i++)
		read_build_id(ctx, &added[i]);

	CLEANUP_FREE char *folder = NULL;
	struct sp_error *error = module_folder(ctx, osrelease, &folder);
	if (error || !folder)
		return error;
	struct by_name by_name = {.modules = added};
	for (size_t i = 0; i < count && !error; i++) {
		const char *name = added[i].name;
		if (!u64map_put(&by_name.map, hash_bytes(name, strlen(name)), i, NULL))
			error = error_no_memory();
	}
	if (!error)
		error = find_files(ctx, folder, &by_name, &modules->arena);
	u64map_deinit(&by_name.map);
	return error;
}

void kernel_modules_deinit(struct kernel_modules *modules)
{
	vec_deinit(modules);
	arena_deinit(&modules->arena);
}
