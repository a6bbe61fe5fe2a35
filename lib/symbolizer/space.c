/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbolizer/space.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "elf/image.h"
#include "proc/kallsyms.h"
#include "proc/maps.h"
#include "proc/loaded_modules.h"
#include "symbol/jitdump.h"

/* Lowest kernel address. */
#define KERNEL_START (UINT64_C(1) << 63)
#define KERNEL_PID UINT32_MAX

DEFINE_CLEANUP(struct sp_space *, sp_space_free)

void sp_space_free(struct sp_space *space)
{
	if (!space)
		return;
	code_names_deinit(&space->generated);
	arena_deinit(&space->arena);
	vec_deinit(&space->codes);
	free(space->title);
	free(space);
}

/* Makes an empty space. Takes ownership of `title` (NULL: out of memory). */
static struct sp_space *space_new(struct sp_symbolizer *symbolizer, char *title)
{
	struct sp_space *space = title ? calloc(1, sizeof(*space)) : NULL;
	if (!space) {
		free(title);
		return NULL;
	}
	space->symbolizer = symbolizer;
	space->title = title;
	return space;
}

static bool insert(struct sp_space *space, const struct mapping *mapping)
{
	return mapping->start >= mapping->end ||
	       mapping_insert(&space->arena, &space->mappings, 0, mapping);
}

/* Adds a module to the space; *index_ret is its index in `codes`. */
static struct sp_error *add_code(struct sp_space *space, const struct module *module,
				 struct code_names *names, uint32_t *index_ret)
{
	NEED(vec_append(&space->codes, (struct space_code){module, names}));
	*index_ret = (uint32_t)space->codes.count - 1;
	return NULL;
}

/* Adds a mapping and its module. */
static struct sp_error *add_mapping(struct sp_space *space, struct code_names *names,
				    enum code_kind kind, const struct sp_mmap *mmap)
{
	const struct module *module;
	struct mapping mapping;
	struct sp_error *error = code_names_add(names, kind, mmap, &module, &mapping);
	if (!error)
		error = add_code(space, module, names, &mapping.module);
	return error || insert(space, &mapping) ? error : error_no_memory();
}

/* -- Files ----------------------------------------------------------------- */

static struct sp_error *add_segments(struct sp_space *space, const struct image *image,
				     const char *path, enum sp_file_address meaning)
{
	struct sp_mmap mmap = {
		.filename = path,
		.prot = PROT_READ | PROT_EXEC,
		.maj = major(image->device),
		.min = minor(image->device),
		.ino = image->inode,
		.build_id_size = image->build_id_size,
	};
	struct sp_error *error = NULL;
	memcpy(mmap.build_id, image->build_id, image->build_id_size);
	for (size_t i = 0; i < image->loads.count && !error; i++) {
		const struct image_load *load = &image->loads.items[i];
		mmap.start = meaning == SP_FILE_OFFSET ? load->file_offset : load->vaddr;
		mmap.size = load->file_size;
		mmap.file_offset = load->file_offset;
		if (load->file_size)
			error = add_mapping(space, &space->symbolizer->files, CODE_USER, &mmap);
	}
	return error;
}

/* Returns the path that the kernel would show in mappings; with symfs, the path below it. */
static char *mapped_path(const struct sp_symbolizer *symbolizer, const char *path)
{
	if (symbolizer->symfs && *symbolizer->symfs)
		return format_text("%s%s", *path == '/' ? "" : "/", path);
	return realpath(path, NULL) ?: strdup(path);
}

struct sp_error *sp_symbolizer_add_file(struct sp_symbolizer *symbolizer, const char *path,
					enum sp_file_address meaning, struct sp_space **ret)
{
	CLEANUP_FREE char *mapped = mapped_path(symbolizer, path);
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	NEED(mapped);
	TRY(image_open_in(symbolizer->symfs, mapped, &image));
	CLEANUP(cleanup_sp_space_free) struct sp_space *space = space_new(symbolizer, strdup(mapped));
	NEED(space);
	struct sp_error *error = add_segments(space, image, mapped, meaning);
	if (!error && !space->mappings)
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED, "%s has no code with addresses",
						  path),
					"give a linked program or shared library, not an object or "
					"debug file");
	if (!error)
		*ret = take_ptr(space);
	return error;
}

/* -- Processes ------------------------------------------------------------- */

/* Returns whether names of the mapping depend only on a file, so that all processes share them. */
static bool is_of_file(const char *name)
{
	return (name[0] == '/' && name[1] != '/' && strncmp(name, "/memfd:", 7) != 0) ||
	       strcmp(name, "[vdso]") == 0;
}

/* Returns the names of code that the process made; NULL and *error when out of memory. */
static struct code_names *generated_names(struct sp_space *space, struct sp_error **error)
{
	struct sp_symbolizer *symbolizer = space->symbolizer;
	if (!space->generated.ctx)
		*error = code_names_init(&space->generated, symbolizer->ctx, &symbolizer->resolver);
	return *error ? NULL : &space->generated;
}

/* Adds the code of a jitdump where the process has memory that has no file. */
static struct sp_error *add_jit_code(struct sp_space *space, const struct jitdump *dump, uint32_t code)
{
	vec_each (place, &dump->places) {
		const struct mapping *memory = mapping_find(space->mappings, place->start);
		const struct mapping mapping = {
			.start = place->start,
			.end = place->start + place->size,
			.file_offset = place->file_offset,
			.module = code,
			.pid = space->pid,
		};
		if (memory && space->codes.items[memory->module].names == &space->generated &&
		    !insert(space, &mapping))
			return error_no_memory();
	}
	return NULL;
}

/* Adds the code of the mapping's file, if it is a jitdump. */
static struct sp_error *add_jitdump(struct sp_space *space, const struct sp_mmap *mmap)
{
	struct sp_symbolizer *symbolizer = space->symbolizer;
	const struct jitdump *dump;
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	const struct module *module = NULL;
	struct mapping mapping;
	uint32_t code;
	struct sp_error *error = NULL;
	struct code_names *names = generated_names(space, &error);
	if (!error)
		error = code_names_add(names, CODE_JITDUMP, mmap, &module, &mapping);
	if (error || !module)
		return error;
	const struct jitdump_request request = {.ctx = symbolizer->ctx, .symfs = symbolizer->symfs,
						.host = HOST_SAME, .module = module,
						.pid = space->pid,
						.files = resolver_jit_files(names->resolver)};
	error = jitdump_open(&request, &why, &dump);
	if (!error && !dump)
		ctx_log(symbolizer->ctx, SP_LOG_WARNING, "JIT code of process %u: %s", space->pid,
			why.text ?: "unusable jitdump");
	if (error || !dump)
		return error;
	error = add_code(space, module, names, &code);
	return error ?: add_jit_code(space, dump, code);
}

/* Adds a mapping; of `jitdumps`, only the code of a jitdump. */
static struct sp_error *add_entry(struct sp_space *space, const struct maps_entry *entry, bool jitdumps)
{
	CLEANUP_FREE char *room = NULL;
	struct sp_mmap mmap;
	struct sp_error *error = maps_entry_mmap(entry, space->pid, &mmap, &room);
	if (error)
		return error;
	/* The kernel's addresses begin below it. */
	if (strcmp(entry->path, "[vsyscall]") == 0)
		return NULL;
	if (jitdumps)
		return add_jitdump(space, &mmap);
	struct code_names *names = is_of_file(mmap.filename) ? &space->symbolizer->files :
							       generated_names(space, &error);
	return error ?: add_mapping(space, names, CODE_USER, &mmap);
}

static struct sp_error *add_entries(struct sp_space *space, bool jitdumps)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct maps_entry *entry;
	struct sp_error *error =
		maps_open(space->symbolizer->ctx, space->pid, 0, MAPS_EXECUTABLE, &maps);
	if (error)
		return error;
	for (error = maps_next(maps, &entry); !error && entry; error = maps_next(maps, &entry)) {
		error = add_entry(space, entry, jitdumps);
		if (error)
			return error;
	}
	return error;
}

/* Returns the error of a process without memory. `reason` is the error of reading its mappings, or NULL. */
static struct sp_error *process_error(struct sp_error *reason, uint32_t pid)
{
	enum sp_error_code code = reason ? sp_error_code(reason) : SP_ERROR_NOT_FOUND;
	if (code == SP_ERROR_PERMISSION)
		return error_set_remedy(reason, "run as root, or as the user of process %u", pid);
	if (code != SP_ERROR_NOT_FOUND)
		return reason;
	struct sp_error *error = error_new(SP_ERROR_NOT_FOUND, reason ?
		"process %u does not exist" :
		"process %u has no memory: it has ended, or is a kernel thread", pid);
	sp_error_free(reason);
	return error_set_remedy(error, "give a running process; record one that ends: "
				"sprof record -p PID");
}

struct sp_error *sp_symbolizer_add_process(struct sp_symbolizer *symbolizer, uint32_t pid,
					   struct sp_space **ret)
{
	CLEANUP(cleanup_sp_space_free) struct sp_space *space =
		space_new(symbolizer, format_text("process %u", pid));
	NEED(space);
	space->pid = pid;
	struct sp_error *error = add_entries(space, false);
	if (error || !space->mappings)
		return process_error(error, pid);
	/* Code of jitdumps replaces memory, which must be known before. */
	if (space->generated.ctx)
		error = add_entries(space, true);
	if (!error)
		*ret = take_ptr(space);
	return error;
}

/* -- The kernel ------------------------------------------------------------ */

static struct sp_error *add_module(struct sp_space *space, const struct kernel_module *module)
{
	struct sp_mmap mmap = {.pid = KERNEL_PID, .start = module->start, .size = module->size,
			       .filename = module->path, .build_id_size = module->build_id_size};
	memcpy(mmap.build_id, module->build_id, module->build_id_size);
	/* kptr_restrict hides addresses as 0. */
	return module->start ? add_mapping(space, &space->symbolizer->files, CODE_KERNEL, &mmap) : NULL;
}

struct sp_error *sp_symbolizer_add_kernel(struct sp_symbolizer *symbolizer, struct sp_space **ret)
{
	CLEANUP(kernel_modules_deinit) struct kernel_modules modules = {0};
	CLEANUP(cleanup_sp_space_free) struct sp_space *space =
		space_new(symbolizer, strdup("the kernel"));
	NEED(space);
	/* Map the kernel to all of its addresses; modules are mapped over it. */
	struct kernel_reference reference = {.name = ""};
	kallsyms_reference(space->symbolizer->ctx, &reference);
	CLEANUP_FREE char *name = format_text("[kernel.kallsyms]%s", reference.name);
	const struct sp_mmap mmap = {.pid = KERNEL_PID,
				     .start = KERNEL_START,
				     .size = UINT64_MAX - KERNEL_START,
				     .file_offset = reference.address,
				     .filename = name};
	struct sp_error *error =
		name ? add_mapping(space, &space->symbolizer->files, CODE_KERNEL, &mmap)
		     : error_no_memory();
	if (!error)
		error = kernel_modules_read(symbolizer->ctx, NULL, &modules);
	for (size_t i = 0; i < modules.count && !error; i++)
		error = add_module(space, &modules.items[i]);
	if (!error)
		*ret = take_ptr(space);
	return error;
}

/* Returns the kernel's space, made on first use. */
static struct sp_error *kernel_of(struct sp_symbolizer *symbolizer, struct sp_space **ret)
{
	struct sp_error *error = NULL;
	pthread_mutex_lock(&symbolizer->kernel_lock);
	if (!symbolizer->kernel)
		error = sp_symbolizer_add_kernel(symbolizer, &symbolizer->kernel);
	*ret = symbolizer->kernel;
	pthread_mutex_unlock(&symbolizer->kernel_lock);
	return error;
}

/* -- Addresses ------------------------------------------------------------- */

struct sp_error *space_locate(struct sp_space *space, uint64_t ip, struct space_place *ret)
{
	struct sp_space *owner = space;
	*ret = (struct space_place){.location = {.offset = ip, .ip = ip}};
	if (space->pid && ip >= KERNEL_START)
		TRY(kernel_of(space->symbolizer, &owner));
	const struct mapping *mapping = mapping_find(owner->mappings, ip);
	if (!mapping)
		return NULL;
	const struct space_code *code = &owner->codes.items[mapping->module];
	ret->names = code->names;
	ret->location = (struct location){
		.module = code->module,
		.offset = mapping->fixed ? ip : ip - mapping->start + mapping->file_offset,
		.mapped_offset = mapping->fixed ? 0 : mapping->file_offset,
		.ip = ip,
		.pid = mapping->pid,
	};
	return NULL;
}
