/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for user space files and the vdso: symbol tables, and Go's table of functions
 * (add_tables() has their order). For symbols, debug information is not read.
 */
#include "symbol/source.h"

#include "elf/debugfile.h"
#include "elf/debuginfod.h"
#include "elf/plt.h"
#include "elf/symtab.h"
#include "symbol/go_names.h"
#include "symbol/namesake_keys.h"
#include "symbol/fde_ranges.h"
#include "symbol/symbol_table.h"

#define TABLES_MAX 2 /* a full table and .dynsym */

/*
 * Largest assumed size of a symbol that states no size, in a file without local symbols: further code
 * may belong to a stripped local function. Exported stubs are smaller.
 */
#define STRIPPED_REACH 64

/* Number of names that are fetched ahead of their use. */
#define AHEAD 16

/* Largest page of an architecture. */
#define PAGE_MAX 65536

struct elf_names {
	struct image *runtime;          /* the mapped file: segments, .dynsym, .plt */
	struct image *debug, *embedded; /* files with further symbols; or NULL */
	struct image_bytes strings[TABLES_MAX];
	size_t string_count;
	struct arena arena;      /* names composed by this source */
	struct symbol_table table, plt; /* sorted by vaddr */
	struct fde_ranges ranges; /* code without a symbol */
	struct pclntab go;       /* Go's function table */
	bool go_read;
};

static void names_close(void *opened)
{
	struct elf_names *names = opened;
	if (!names)
		return;
	pclntab_deinit(&names->go);
	ranges_deinit(&names->ranges);
	table_deinit(&names->plt);
	table_deinit(&names->table);
	for (size_t i = 0; i < names->string_count; i++)
		image_bytes_release(&names->strings[i]);
	arena_deinit(&names->arena);
	image_free(names->embedded);
	image_free(names->debug);
	image_free(names->runtime);
	free(names);
}

DEFINE_CLEANUP(void *, names_close)

static bool add_symbol(struct symbol_table *table, const struct elf_symbol *symbol)
{
	if (!table_add(table, symbol->vaddr, symbol->size, symbol->name, symbol->binding,
		       symbol->type))
		return false;
	table_limit_last(table, symbol->section_end);
	return !symbol->object || table_set_object(table, symbol->object);
}

/* Adds a symbol table. Damage goes into the diagnosis, and other tables are still used. */
static struct sp_error *add_table(struct elf_names *names, const struct image *image,
				  enum symtab_kind kind, struct diagnosis *diagnosis)
{
	struct symtab symtab;
	struct sp_error *error = symtab_open(image, names->runtime, kind, &symtab);
	if (error && sp_error_code(error) == SP_ERROR_FORMAT)
		return diagnosis_take(diagnosis, RESOLVER_DAMAGED_FILE, error);
	if (error)
		return error;
	struct elf_symbol symbol;
	while (!error && symtab_next(&symtab, &symbol))
		if (!add_symbol(&names->table, &symbol))
			error = error_no_memory();
	symtab_close(&symtab, &names->strings[names->string_count++]);
	return error;
}

static struct sp_error *add_embedded(struct elf_names *names, struct diagnosis *diagnosis)
{
	struct sp_error *error = debugfile_embedded(names->runtime, &names->embedded);
	if (error)
		return diagnosis_take(diagnosis, RESOLVER_NO_SYMBOLS, error);
	return names->embedded ? add_table(names, names->embedded, SYMTAB_FULL, diagnosis) : NULL;
}

const char *source_debug_remedy(const struct source_env *env, const struct module *module)
{
	/* No server has a file that its user built. */
	return module_is_distributed(module)
		       ? debuginfod_remedy(env->ctx)
		       : "build it with -g, and do not strip it, or install its debug symbols";
}

static const enum resolver_problem problem_of[] = {
	[BINARY_OK] = RESOLVER_OK,
	[BINARY_MISSING] = RESOLVER_MISSING_FILE,
	[BINARY_WRONG] = RESOLVER_WRONG_FILE,
	[BINARY_UNPROVEN] = RESOLVER_UNPROVEN,
	[BINARY_DAMAGED] = RESOLVER_DAMAGED_FILE,
	[BINARY_OTHER_KERNEL] = RESOLVER_KERNEL_OTHER,
};

/* Returns whether the image's addresses are those that are stored. */
static bool is_placed(const struct source_env *env, const struct module *module,
		      const struct image *image)
{
	const struct stored_key key = binary_stored_key(module);
	const struct stored_module *stored = stored_find(env->binary.stored, &key);
	uint64_t vaddr;
	for (size_t i = 0; stored && i < stored->points.count; i++) {
		const struct stored_point *point = &stored->points.items[i];
		if (point->has_vaddr &&
		    (!image_vaddr(image, point->offset, &vaddr) || vaddr != point->vaddr))
			return false;
	}
	return true;
}

/* Finds a debug file that stands in for the missing binary: one in its place, or by build-id. */
static struct sp_error *find_debug_alone(const struct source_env *env, const struct module *module,
					 uint32_t pid, struct diagnosis *diagnosis,
					 struct image **ret)
{
	struct debugfile_places places = binary_places(&env->binary);
	CLEANUP(cleanup_image_free) struct image *found = NULL;
	struct sp_error *error = binary_open_debug_only(&env->binary, module, pid, &found);
	if (!error && !found)
		error = debugfile_by_build_id(&places, module->build_id, module->build_id_size,
					      symtab_exists, &found);
	if (error || !found)
		return error;
	image_stand_in(found);
	if (!symtab_exists(found) || !is_placed(env, module, found))
		return NULL;
	diagnosis_clear(diagnosis);
	*ret = take_ptr(found);
	return NULL;
}

/* Reads the function table of a Go program once. */
static struct sp_error *read_go(struct elf_names *names, const struct image *image,
				struct diagnosis *diagnosis)
{
	struct sp_error *error = names->go_read ? NULL : pclntab_read(image, &names->go);
	names->go_read = true;
	return diagnosis_take(diagnosis, RESOLVER_DAMAGED_FILE, error);
}

static struct sp_error *add_go(struct elf_names *names, struct diagnosis *diagnosis)
{
	struct sp_error *error = read_go(names, names->runtime, diagnosis);
	return error || go_names_add(&names->go, &names->table) ? error : error_no_memory();
}

/*
 * Adds the file's .symtab. Without one, adds .dynsym and the first of these that exists: a debug
 * file's table, .gnu_debugdata's table, Go's functions.
 */
static struct sp_error *add_tables(const struct source_env *env, struct elf_names *names,
				   const char *path, struct diagnosis *diagnosis)
{
	if (symtab_exists(names->runtime))
		return add_table(names, names->runtime, SYMTAB_FULL, diagnosis);
	struct debugfile_places places = binary_places(&env->binary);
	TRY(debugfile_find(&places, names->runtime, path, symtab_exists, &names->debug));
	TRY(names->debug ? add_table(names, names->debug, SYMTAB_FULL, diagnosis)
			 : add_embedded(names, diagnosis));
	if (!names->debug && !names->embedded)
		TRY(add_go(names, diagnosis));
	return add_table(names, names->runtime, SYMTAB_DYNAMIC, diagnosis);
}

/* Returns the name of the function that a resolver chooses an implementation of. */
static const char *name_at(void *arg, uint64_t vaddr)
{
	struct elf_names *names = arg;
	const struct table_symbol *symbol = table_ifunc_at(&names->table, vaddr);
	return symbol ? symbol->name : NULL;
}

/* Makes a separate table of PLT entries, which are preferred to symbols of unknown size. */
static struct sp_error *add_plt(struct elf_names *names)
{
	struct elf_symbols symbols = {0};
	struct sp_error *error = plt_read(names->runtime, name_at, names, &names->arena, &symbols);
	CLEANUP_FREE struct elf_symbol *items = symbols.items;
	for (size_t i = 0; !error && i < symbols.count; i++)
		if (!add_symbol(&names->plt, &symbols.items[i]))
			error = error_no_memory();
	return error ?: table_seal(&names->plt, TABLE_REACH_ANY);
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	if (module->kind != MODULE_FILE && module->kind != MODULE_VDSO)
		return NULL;
	CLEANUP(cleanup_names_close) void *opened = calloc(1, sizeof(struct elf_names));
	CLEANUP_FREE char *path = binary_recorded_path(module);
	struct elf_names *names = opened;
	NEED(names && path);
	CLEANUP(diagnosis_clear) struct diagnosis found = {0};
	struct sp_error *error = binary_open(&env->binary, module, pid, &found, &names->runtime);
	if (!error && found.problem != BINARY_OK)
		diagnosis_set(diagnosis, problem_of[found.problem], found.remedy, "%s",
			      found.text ?: module->path);
	if (!error && !names->runtime && module->kind == MODULE_FILE)
		error = find_debug_alone(env, module, pid, diagnosis, &names->runtime);
	if (error || !names->runtime)
		return error;
	TRY(add_tables(env, names, path, diagnosis));
	bool complete = module->kind == MODULE_VDSO || symtab_exists(names->runtime) || names->debug ||
			names->embedded;
	if (!complete && diagnosis->problem == RESOLVER_OK)
		diagnosis_set(diagnosis, RESOLVER_NO_SYMBOLS, source_debug_remedy(env, module),
			      "%s is stripped; no debug file found", names->runtime->path);
	TRY(table_seal(&names->table, complete ? TABLE_REACH_ANY : STRIPPED_REACH));
	TRY(add_plt(names));
	image_release_file(names->runtime);
	if (names->debug)
		image_release_file(names->debug);
	*ret = take_ptr(opened);
	return NULL;
}

/* Converts a table's symbol. `distance` is the offset minus the vaddr. */
static struct found found_symbol(const struct symbol_table *table,
				 const struct table_symbol *symbol, uint64_t distance)
{
	return (struct found){
		.key = symbol->start,
		.raw_name = symbol->name,
		.start = symbol->start + distance,
		.size = symbol->end - symbol->start,
		.object = symbol->object ? table->objects.items[symbol->object] : NULL,
		.mangled = true,
		.stretched = !symbol->sized,
	};
}

/* Returns whether the mapping, if it is known, begins in the page of image_stand_in()'s code. */
static bool is_mapped_there(const struct image *image, const struct location *location)
{
	if (!location->mapped_offset)
		return true;
	vec_each (load, &image->loads) {
		if (load->executable && load->file_offset >= location->mapped_offset &&
		    load->file_offset - location->mapped_offset < PAGE_MAX)
			return true;
	}
	return false;
}

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	(void)diagnosis;
	struct elf_names *names = opened;
	uint64_t vaddr;
	if (names->runtime->has_no_code && !is_mapped_there(names->runtime, location))
		names->runtime->loads.count = 0;
	if (!image_vaddr(names->runtime, location->offset, &vaddr))
		return false;
	const struct table_symbol *symbol = table_find(&names->table, vaddr);
	/* Symbols of unknown size may extend over PLT entries; some linkers make sized ones. */
	if (!symbol || !symbol->sized)
		symbol = table_find(&names->plt, vaddr) ?: symbol;
	if (!symbol)
		return false;
	/* Entries of the PLT have no object. */
	*ret = found_symbol(&names->table, symbol, location->offset - vaddr);
	return true;
}

static bool names_list(void *opened, const struct namesake_keys *keys,
		       struct listed_symbols *ret)
{
	struct elf_names *names = opened;
	struct symbol_table *table = &names->table;
	for (size_t i = 0; i < table->symbols.count; i++) {
		const struct table_symbol *symbol = &table->symbols.items[i];
		uint64_t offset;
		/* Names are in another order than addresses, so that each is a cache miss. */
		if (i + AHEAD < table->symbols.count)
			__builtin_prefetch(symbol[AHEAD].name);
		if (!namesake_keys_have(keys, symbol->name) ||
		    table_at(table, symbol->start) != symbol ||
		    !image_file_offset(names->runtime, symbol->start, &offset))
			continue;
		if (!vec_append(ret, (struct listed_symbol){
					     found_symbol(table, symbol, offset - symbol->start),
					     offset}))
			return false;
	}
	return true;
}

static bool names_vaddr(void *opened, uint64_t offset, uint64_t *ret)
{
	return image_vaddr(((const struct elf_names *)opened)->runtime, offset, ret);
}

/*
 * Finds a range without a symbol. If a symbol begins at the range's start, that symbol names it,
 * whatever its size.
 */
static struct sp_error *names_find_range(void *opened, const struct source_env *env,
					 const struct location *location, struct found *ret)
{
	struct elf_names *names = opened;
	uint64_t vaddr = 0;
	struct range range = {0};
	struct sp_error *error = NULL;
	if (names_vaddr(names, location->offset, &vaddr))
		error = ranges_find(&names->ranges, &env->binary, location->module,
				    names->runtime, vaddr, &range);
	const struct table_symbol *symbol = range.size ? table_at(&names->table, range.start) : NULL;
	*ret = symbol ? found_symbol(&names->table, symbol, location->offset - vaddr) :
			(struct found){
				.key = range.start,
				.start = location->offset > vaddr - range.start ?
						 location->offset - (vaddr - range.start) : 0,
				.size = range.size,
				.from_cfi = true,
			};
	return error;
}

static bool names_find_gap(void *opened, const struct location *location, struct found *ret)
{
	struct elf_names *names = opened;
	uint64_t vaddr, low, high;
	if (!names_vaddr(names, location->offset, &vaddr))
		return false;
	const struct code_map *code = &names->runtime->code;
	struct range gap = {0};
	for (size_t i = 0; code->by_sections && i < code->parts.count; i++) {
		const struct code_part *part = &code->parts.items[i];
		if (vaddr >= part->start && vaddr < part->end)
			gap = (struct range){part->start, part->end - part->start};
	}
	if (!gap.size)
		return false;
	ranges_narrow(&names->ranges, names->runtime, vaddr, &gap);
	table_neighbours(&names->table, vaddr, &low, &high);
	uint64_t end = gap.start + gap.size;
	if (low > gap.start && low <= vaddr)
		gap.start = low;
	/* A symbol of unknown size, which a function separates from this code, ends with the
	 * section. */
	if (low > vaddr && low < end)
		end = low;
	if (high < end)
		end = high;
	/* The start of the gap may be in another segment: its distance is the address's. */
	*ret = (struct found){
		.key = gap.start,
		.start = location->offset > vaddr - gap.start ?
				 location->offset - (vaddr - gap.start) : 0,
		.size = end - gap.start,
		.from_cfi = true,
		.is_gap = true,
	};
	return true;
}

/* Opens the file with debug information; NULL if there is none. */
static struct sp_error *find_lines(struct elf_names *names, const struct source_env *env,
				   const struct module *module, struct image **ret)
{
	const struct image *known[] = {names->runtime, names->debug};
	for (size_t i = 0; i < 2; i++)
		if (known[i] && !known[i]->memory && dwarf_exists(known[i]))
			return image_open_again(known[i], ret);
	CLEANUP(cleanup_image_free) struct image *runtime = NULL;
	/* The search by .gnu_debuglink needs the file open. */
	if (names->runtime->memory)
		return NULL;
	TRY(image_open_again(names->runtime, &runtime));
	return binary_find_debug(&env->binary, module, runtime, dwarf_exists, ret);
}

/* Opens the mapped file again if it is a Go program; NULL: it is none. */
static struct sp_error *open_go(struct elf_names *names, struct diagnosis *diagnosis,
				struct image **ret)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	if (names->runtime->memory || (names->go_read && !names->go.count))
		return NULL;
	struct sp_error *error = image_open_again(names->runtime, &image);
	if (!error)
		error = read_go(names, image, diagnosis);
	if (names->go.count)
		*ret = take_ptr(image);
	return error;
}

static bool names_have_lines(void *opened, const struct source_env *env,
			     const struct module *module)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	CLEANUP(diagnosis_clear) struct diagnosis diagnosis = {0};
	struct sp_error *error = find_lines(opened, env, module, &image);
	if (!error && !image)
		error = open_go(opened, &diagnosis, &image);
	/* Opening the file for its symbols already reported a read error. */
	bool found = image || error;
	sp_error_free(error);
	return found;
}

/* Finds frames of a Go program without debug information. */
static struct sp_error *names_frames(void *opened, const uint64_t *offsets, size_t count,
				     struct arena *arena, struct source_frames *ret)
{
	struct elf_names *names = opened;
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	CLEANUP(diagnosis_clear) struct diagnosis diagnosis = {0};
	struct sp_error *error = open_go(names, &diagnosis, &image);
	if (!error && image)
		error = go_names_frames(image, &names->go, offsets, count, arena, ret);
	return diagnosis_take(&diagnosis, RESOLVER_DAMAGED_FILE, error);
}

static struct sp_error *names_open_lines(void *opened, const struct source_env *env,
					 const struct module *module, struct diagnosis *diagnosis,
					 struct dwarf **ret, struct placement *placement_ret)
{
	struct elf_names *names = opened;
	CLEANUP(cleanup_image_free) struct image *go = NULL;
	struct image *image = NULL;
	struct dwarf_options options = {
		.ctx = env->ctx,
		.places = binary_places(&env->binary),
		.runtime = names->runtime,
	};
	struct sp_error *error = find_lines(names, env, module, &image);
	*ret = NULL;
	*placement_ret = (struct placement){.runtime = names->runtime};
	if (!error && !image)
		error = open_go(names, diagnosis, &go);
	if (!error && go)
		return NULL;
	if (!error && !image) {
		diagnosis_set(diagnosis, RESOLVER_NO_SYMBOLS, source_debug_remedy(env, module),
			      "%s has no debug information; no debug file found",
			      names->runtime->path);
		return NULL;
	}
	if (!error)
		error = dwarf_open(image, &options, ret);
	return diagnosis_take(diagnosis, RESOLVER_DAMAGED_FILE, error);
}

const struct source source_elf = {
	.name = "elf",
	.by_content = true,
	.open = names_open,
	.find = names_find,
	.list = names_list,
	.close = names_close,
	.vaddr = names_vaddr,
	.find_range = names_find_range,
	.find_gap = names_find_gap,
	.has_lines = names_have_lines,
	.open_lines = names_open_lines,
	.frames = names_frames,
};
