/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for the kernel by its ELF file. A file given as --vmlinux is used before all other sources. If
 * no other source has the kernel, distributions' paths are searched for a file with its build-id.
 */
#include "symbol/source.h"

#include <string.h>
#include "base/format.h"
#include "dwarf/dwarf.h"
#include "elf/debugfile.h"
#include "elf/symtab.h"
#include "symbol/ko.h"

/*
 * Paths before and after the kernel release, as in perf and elfutils. Debian and Ubuntu have the first
 * ones, SUSE those that end in .debug and .xz, and Fedora the others.
 */
static const struct place {
	const char *before, *after;
} places[] = {
	{"/boot/vmlinux-", ""},
	{"/usr/lib/debug/boot/vmlinux-", ""},
	{"/usr/lib/debug/boot/vmlinux-", ".debug"},
	{"/usr/lib/debug/lib/modules/", "/vmlinux"},
	{"/usr/lib/debug/lib/modules/", "/vmlinux.debug"},
	{"/usr/lib/debug/usr/lib/modules/", "/vmlinux"},
	{"/usr/lib/debug/usr/lib/modules/", "/vmlinux.debug"},
	{"/lib/modules/", "/build/vmlinux"},
	{"/lib/modules/", "/vmlinux"},
	{"/usr/lib/modules/", "/build/vmlinux"},
	{"/usr/lib/modules/", "/vmlinux"},
	{"/boot/vmlinux-", ".xz"},
	{"/boot/vmlinux-", ".zst"},
	{"/usr/lib/modules/", "/vmlinux.xz"},
	{"/usr/lib/modules/", "/vmlinux.zst"},
};

static bool is_recorded(const struct source_env *env, const struct image *image)
{
	return image_has_build_id(image, env->options.kernel_build_id,
				  env->options.kernel_build_id_size);
}

/*
 * Reads the symbol table, and computes the KASLR shift from the reference symbol. *placed_ret is
 * false if the recording or the file lacks that symbol.
 */
static struct sp_error *read_table(struct kernel_file *vmlinux, const struct module *module,
				   bool *placed_ret)
{
	struct symtab symtab;
	struct sp_error *error = NULL;
	uint64_t reference = 0;
	TRY(symtab_open(vmlinux->image, vmlinux->image, SYMTAB_FULL, &symtab));
	*placed_ret = module->reference && module->reference_symbol &&
		      symtab_find(&symtab, module->reference_symbol, &reference);
	if (*placed_ret)
		vmlinux->shift = module->reference - reference;
	struct elf_symbol symbol;
	while (!error && symtab_next(&symtab, &symbol))
		if (!table_add(&vmlinux->table, symbol.vaddr, symbol.size, symbol.name,
			       symbol.binding, symbol.type))
			error = error_no_memory();
	return kernel_file_seal(vmlinux, &symtab, error);
}

/* Uses the file, but not one that was found if the recorded kernel's address is unknown. */
static struct sp_error *use_image(struct image **image, const struct module *module, bool given,
				  struct diagnosis *diagnosis, void **ret)
{
	bool placed = false;
	CLEANUP(cleanup_kernel_file_close) struct kernel_file *vmlinux =
		calloc(1, sizeof(*vmlinux));
	NEED(vmlinux);
	vmlinux->image = take_ptr(*image);
	struct sp_error *error = read_table(vmlinux, module, &placed);
	if (error && sp_error_code(error) == SP_ERROR_FORMAT)
		return diagnosis_take(diagnosis, RESOLVER_DAMAGED_FILE, error);
	if (error || (!placed && !given))
		return error;
	if (!placed)
		diagnosis_set(diagnosis, RESOLVER_UNPROVEN,
			      "use --kallsyms FILE of the recorded boot instead of --vmlinux",
			      "names by %s may be wrong: where the kernel was in memory (KASLR) "
			      "is unknown", vmlinux->image->path);
	*ret = take_ptr(vmlinux);
	return NULL;
}

static struct sp_error *given_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	(void)pid;
	const char *path = env->options.vmlinux;
	if (module->kind != MODULE_KERNEL || !path || !*path)
		return NULL;
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = image_open(path, &image);
	if (error)
		return diagnosis_take(diagnosis,
				      sp_error_code(error) == SP_ERROR_FORMAT ?
					      RESOLVER_DAMAGED_FILE : RESOLVER_MISSING_FILE,
				      error);
	if (env->options.kernel_build_id_size > 0 && !is_recorded(env, image)) {
		diagnosis_set(diagnosis, RESOLVER_WRONG_FILE,
			      "use --vmlinux FILE of the recorded kernel",
			      "%s is not the recorded kernel: its build-id differs", path);
		return NULL;
	}
	if (!symtab_exists(image)) {
		diagnosis_set(diagnosis, RESOLVER_NO_SYMBOLS, "use --vmlinux FILE that is not stripped",
			      "%s has no symbols", path);
		return NULL;
	}
	return use_image(&image, module, true, diagnosis, ret);
}

/* Opens the file and keeps it if it has the recorded build-id. */
static struct sp_error *try_place(const struct source_env *env, const struct place *place,
				  const char *release, struct image **ret)
{
	CLEANUP_FREE char *path = format_text("%s%s%s", place->before, release, place->after);
	NEED(path);
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = ko_open_file(env->options.symfs, path, &image);
	if (error)
		return error_if_no_memory(error);
	if (is_recorded(env, image) && symtab_exists(image))
		*ret = take_ptr(image);
	return NULL;
}

/* Searches by build-id: installed debug files, or also on servers. */
static struct sp_error *search_build_id(const struct source_env *env, bool servers, struct image **ret)
{
	struct debugfile_places debug = binary_places(&env->binary);
	debug.debuginfod &= servers;
	return debugfile_by_build_id(&debug, env->options.kernel_build_id,
				     env->options.kernel_build_id_size, symtab_exists, ret);
}

static struct sp_error *search(const struct source_env *env, struct image **ret)
{
	const char *release = env->options.osrelease;
	struct sp_error *error = search_build_id(env, false, ret);
	if (release && !strchr(release, '/'))
		for (size_t i = 0; !error && !*ret && i < count_of(places); i++)
			error = try_place(env, &places[i], release, ret);
	return error || *ret ? error : search_build_id(env, true, ret);
}

static struct sp_error *found_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	(void)pid;
	if (module->kind != MODULE_KERNEL || env->options.kernel_build_id_size == 0)
		return NULL;
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = search(env, &image);
	if (error || !image)
		return error;
	error = use_image(&image, module, false, diagnosis, ret);
	if (!error && *ret)
		diagnosis_clear(diagnosis);
	return error;
}

static bool vmlinux_has_lines(void *opened, const struct source_env *env,
			      const struct module *module)
{
	const struct kernel_file *vmlinux = opened;
	(void)env, (void)module;
	return !vmlinux->image->memory && dwarf_exists(vmlinux->image);
}

static struct sp_error *vmlinux_open_lines(void *opened, const struct source_env *env,
					   const struct module *module, struct diagnosis *diagnosis,
					   struct dwarf **ret, struct placement *placement_ret)
{
	const struct kernel_file *vmlinux = opened;
	const struct dwarf_options options = {.ctx = env->ctx,
					      .places = binary_places(&env->binary)};
	struct image *image = NULL;
	(void)module;
	*ret = NULL;
	*placement_ret = (struct placement){.shift = vmlinux->shift};
	if (!dwarf_exists(vmlinux->image)) {
		diagnosis_set(diagnosis, RESOLVER_NO_SYMBOLS, "use --vmlinux FILE with debug information",
			      "%s has no debug information", vmlinux->image->path);
		return NULL;
	}
	struct sp_error *error = image_open_again(vmlinux->image, &image);
	if (!error)
		error = dwarf_open(image, &options, ret);
	return diagnosis_take(diagnosis, RESOLVER_DAMAGED_FILE, error);
}

/* Reads code as it was built. The kernel changes some instructions when it starts. */
static bool vmlinux_read_code(void *opened, uint64_t offset, uint64_t from, size_t size,
			      uint8_t *ret, uint16_t *machine_ret)
{
	const struct kernel_file *vmlinux = opened;
	CLEANUP(cleanup_image_free) struct image *again = NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		vmlinux->image->memory ? NULL : image_open_again(vmlinux->image, &again);
	const struct image *image = again ?: vmlinux->image;
	struct image_bytes code = {0};
	uint64_t start, left;
	(void)offset;
	if (error || image_lacks_code(image) ||
	    !image_range_at(image, from - vmlinux->shift, &start, &left) || left < size)
		return false;
	error = image_range_bytes(image, start, size, &code);
	if (!error)
		memcpy(ret, code.bytes, size);
	image_bytes_release(&code);
	*machine_ret = image->machine;
	return !error;
}

const struct source source_vmlinux_given = {
	.name = "vmlinux",
	.open = given_open,
	.find = kernel_file_find,
	.close = kernel_file_close,
	.has_lines = vmlinux_has_lines,
	.open_lines = vmlinux_open_lines,
	.read_code = vmlinux_read_code,
};

const struct source source_vmlinux_found = {
	.name = "vmlinux",
	.open = found_open,
	.find = kernel_file_find,
	.close = kernel_file_close,
	.has_lines = vmlinux_has_lines,
	.open_lines = vmlinux_open_lines,
	.read_code = vmlinux_read_code,
};
