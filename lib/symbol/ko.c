/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/ko.h"

#include <string.h>
#include "base/format.h"
#include "base/io.h"
#include "base/regular_file.h"
#include "elf/extent.h"
#include "elf/relocate.h"
#include "elf/symtab.h"
#include "elf/unpack.h"

/* Limit of an unpacked module's size. The largest drivers have 50 MB with debug information. */
#define MODULE_SIZE_MAX ((size_t)1 << 30)
/*
 * Number of symbols compared to verify that a file's layout is the kernel's, and the share that
 * must match.
 */
#define CHECKED_MAX 256
#define CHECKED_SHARE 0.9

void kernel_file_close(void *opened)
{
	struct kernel_file *file = opened;
	if (!file)
		return;
	table_deinit(&file->table);
	image_bytes_release(&file->strings);
	image_free(file->image);
	free(file);
}

bool kernel_file_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		      struct found *ret)
{
	struct kernel_file *file = opened;
	const struct table_symbol *symbol =
		table_find(&file->table, location->offset - file->shift);
	(void)diagnosis;
	if (!symbol)
		return false;
	*ret = (struct found){
		.key = symbol->start,
		.raw_name = symbol->name,
		.start = symbol->start + file->shift,
		.size = symbol->end - symbol->start,
		.stretched = !symbol->sized,
	};
	return true;
}

struct sp_error *kernel_file_seal(struct kernel_file *file, struct symtab *symtab,
				  struct sp_error *error)
{
	symtab_close(symtab, &file->strings);
	image_release_file(file->image);
	return error ?: table_seal(&file->table, TABLE_REACH_ANY);
}

/* Reads a packed file. The caller frees *ret. */
static struct sp_error *read_packed(const char *root, const char *path, uint8_t **ret,
				    size_t *size_ret)
{
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	TRY(regular_file_open(root, path, 0, &fd, &status));
	bool sparse = io_allocated_bytes(fd, &status) < (uint64_t)status.st_size / 2;
	if (sparse || status.st_size > (off_t)MODULE_SIZE_MAX)
		return error_new(SP_ERROR_INVALID,
				 sparse ? "%s is a sparse file, not a kernel module"
					: "%s is too large for a kernel module", path);
	CLEANUP_FREE uint8_t *bytes = malloc((size_t)status.st_size + 1);
	NEED(bytes);
	int errnum = io_pread(fd, bytes, status.st_size, 0, size_ret);
	if (errnum)
		return error_os(errnum, "%s", path);
	*ret = take_ptr(bytes);
	return NULL;
}

static struct sp_error *open_packed(const char *root, const char *path, bool is_xz,
				    struct image **ret)
{
	CLEANUP_FREE uint8_t *packed = NULL;
	uint8_t *bytes;
	size_t size, packed_size;
	struct sp_error *error = read_packed(root, path, &packed, &packed_size);
	uint64_t most = error ? 0 : extent_unpacked_max(packed_size);
	if (most > MODULE_SIZE_MAX)
		most = MODULE_SIZE_MAX;
	if (!error)
		error = (is_xz ? xz_unpack : zst_unpack)(packed, packed_size, (size_t)most, path,
							 &bytes, &size);
	return error ?: image_open_memory(bytes, size, path, ret);
}

struct sp_error *ko_open_file(const char *root, const char *path, struct image **ret)
{
	if (text_ends_with(path, ".xz"))
		return open_packed(root, path, true, ret);
	if (text_ends_with(path, ".zst"))
		return open_packed(root, path, false, ret);
	return image_open_in(root, path, ret);
}

static bool is_code(const struct image *image, const GElf_Shdr *header)
{
	size_t names;
	if ((header->sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) != (SHF_ALLOC | SHF_EXECINSTR) ||
	    elf_getshdrstrndx(image->elf, &names))
		return false;
	const char *name = elf_strptr(image->elf, names, header->sh_name);
	return name && strncmp(name, ".init", 5) != 0;
}

uint64_t *ko_lay_out(const struct image *image, size_t *count_ret)
{
	size_t count = 0;
	elf_getshdrnum(image->elf, &count);
	uint64_t *places = malloc((count ?: 1) * sizeof(*places));
	uint64_t end = 0;
	for (size_t i = 0; places && i < count; i++) {
		GElf_Shdr header;
		places[i] = UINT64_MAX;
		if (!gelf_getshdr(elf_getscn(image->elf, i), &header) || !is_code(image, &header))
			continue;
		uint64_t align = header.sh_addralign ?: 1;
		end = (end + align - 1) / align * align;
		places[i] = end;
		end += header.sh_size;
	}
	*count_ret = count;
	return places;
}

/* Whether the image is a relocatable file with the module's build-id. */
static bool ko_is_recorded(const struct module *module, const struct image *image)
{
	return image->type == ET_REL && module->build_id_size > 0 &&
	       image_has_build_id(image, module->build_id, module->build_id_size);
}

/* Opens the file, and keeps it if it has the module's build-id and the sections that are wanted. */
static struct sp_error *try_file(const struct module *module, const char *root, const char *path,
				 debugfile_wanted_fn *wanted, struct image **ret)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct sp_error *error = ko_open_file(root, path, &image);
	if (error)
		return error_if_no_memory(error);
	if (ko_is_recorded(module, image) && wanted(image))
		*ret = take_ptr(image);
	return NULL;
}

/*
 * Tries the paths of distributions' debug files for PATH.ko.xz: /usr/lib/debug/PATH.ko (Debian) or
 * .ko.debug (Fedora, SUSE), without the /usr of merged systems or with it, and compressed ones.
 */
static struct sp_error *try_debug_paths(const struct module *module, const char *root,
					debugfile_wanted_fn *wanted, struct image **ret)
{
	static const char *const before[] = {"/usr/lib/debug", "/usr/lib/debug/usr"};
	static const char *const after[] = {"", ".debug", ".xz", ".zst", ".debug.xz", ".debug.zst"};
	const size_t count = count_of(after);
	const char *inner = module->path + (strncmp(module->path, "/usr/", 5) ? 0 : 4);
	const char *ko = strstr(inner, ".ko");
	int size = ko ? (int)(ko + 3 - inner) : (int)strlen(inner);
	struct sp_error *error = NULL;
	for (size_t i = 0; i < 2 * count && !error && !*ret; i++) {
		CLEANUP_FREE char *path =
			format_text("%s%.*s%s", before[i / count], size, inner, after[i % count]);
		NEED(path);
		error = try_file(module, root, path, wanted, ret);
	}
	return error;
}

/* Searches by build-id: installed debug files, or also on servers. */
static struct sp_error *find_by_build_id(const struct source_env *env, const struct module *module,
					 bool servers, debugfile_wanted_fn *wanted, struct image **ret)
{
	struct debugfile_places places = binary_places(&env->binary);
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	places.debuginfod &= servers;
	struct sp_error *error = debugfile_by_build_id(&places, module->build_id, module->build_id_size,
						       wanted, &image);
	if (image && ko_is_recorded(module, image))
		*ret = take_ptr(image);
	return error;
}

struct sp_error *ko_find(const struct source_env *env, const struct module *module,
			 debugfile_wanted_fn *wanted, struct image **ret)
{
	const char *root = env->options.symfs;
	if (module->kind != MODULE_KERNEL_MODULE || module->path[0] != '/' ||
	    module->build_id_size == 0)
		return NULL;
	TRY(find_by_build_id(env, module, false, wanted, ret));
	if (!*ret)
		TRY(try_debug_paths(module, root, wanted, ret));
	/* The module is often compressed, so that a look at it takes longer. */
	if (!*ret)
		TRY(try_file(module, root, module->path, wanted, ret));
	if (!*ret && binary_places(&env->binary).debuginfod)
		TRY(find_by_build_id(env, module, true, wanted, ret));
	return NULL;
}

bool ko_has_lines(const struct source_env *env, const struct module *module)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	sp_error_free(ko_find(env, module, dwarf_exists, &image));
	return image;
}

/* Checks a sample of the file's symbols against the recorded kernel's addresses. */
static struct sp_error *check_layout(const struct image *image, const uint64_t *addresses,
				     size_t count, const struct ko_check *check, bool *fits_ret)
{
	struct symtab symtab;
	struct elf_symbol symbol;
	CLEANUP(image_bytes_release) struct image_bytes strings = {0};
	size_t checked = 0, found = 0;
	TRY(symtab_open(image, image, SYMTAB_FULL, &symtab));
	while (checked < CHECKED_MAX && symtab_next(&symtab, &symbol)) {
		if (symbol.type != STT_FUNC || symbol.section >= count ||
		    addresses[symbol.section] == RELOCATE_NOWHERE)
			continue;
		checked++;
		found += check->is_symbol(check->arg, addresses[symbol.section] + symbol.vaddr, symbol.name);
	}
	symtab_close(&symtab, &strings);
	*fits_ret = checked > 0 && (double)found >= CHECKED_SHARE * (double)checked;
	return NULL;
}

/* Computes the addresses of sections in the recorded kernel. *ret is NULL if `check` disproves them. */
static struct sp_error *find_addresses(const struct image *image, const struct module *module,
				       const struct ko_check *check, uint64_t **ret, size_t *count_ret)
{
	bool fits = true;
	CLEANUP_FREE uint64_t *addresses = ko_lay_out(image, count_ret);
	NEED(addresses);
	for (size_t i = 0; i < *count_ret; i++)
		if (addresses[i] != UINT64_MAX)
			addresses[i] += module->start;
	struct sp_error *error =
		check->is_symbol ? check_layout(image, addresses, *count_ret, check, &fits) : NULL;
	if (!error && fits)
		*ret = take_ptr(addresses);
	return error;
}

static struct sp_error *open_dwarf(const struct source_env *env, struct image *image,
				   const uint64_t *addresses, size_t count, struct dwarf **ret)
{
	const struct dwarf_options options = {.ctx = env->ctx,
					      .places = binary_places(&env->binary)};
	struct image *linked = NULL;
	TRY(relocate_debug(image, addresses, count, &linked));
	return dwarf_open(linked, &options, ret);
}

struct sp_error *ko_open_lines(const struct source_env *env, const struct module *module,
			       const struct ko_check *check, struct diagnosis *diagnosis,
			       struct dwarf **ret, struct placement *placement_ret)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	CLEANUP_FREE uint64_t *addresses = NULL;
	size_t count = 0;
	*ret = NULL;
	*placement_ret = (struct placement){0};
	struct sp_error *error = ko_find(env, module, dwarf_exists, &image);
	if (error || !image)
		return error;
	error = find_addresses(image, module, check, &addresses, &count);
	if (!error && !addresses) {
		diagnosis_set(diagnosis, RESOLVER_WRONG_FILE, NULL,
			      "%s: functions are not where the kernel has them", image->path);
		return NULL;
	}
	if (!error)
		error = open_dwarf(env, image, addresses, count, ret);
	return diagnosis_take(diagnosis, RESOLVER_DAMAGED_FILE, error);
}
