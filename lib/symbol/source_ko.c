/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel module by its file, where no kallsyms knows it: .ko, .ko.xz, .ko.zst.
 * The file has sections and no addresses; the kernel lays the executable ones out
 * one behind the other in the file's order, each aligned as it asks, but those of
 * .init, which it drops after loading.
 */
#include "symbol/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "base/format.h"
#include "base/io.h"
#include "elf/symtab.h"
#include "elf/xz.h"
#include "elf/zst.h"
#include "symbol/table.h"

/* The largest drivers have 50 MB, with their debug information. */
#define MODULE_SIZE_MAX ((size_t)1 << 30)

struct ko {
	struct image *image;
	struct image_bytes strings;
	struct table table; /* by distance from where the module's code begins */
	uint64_t start;     /* where that was */
};

static void ko_close(void *opened)
{
	struct ko *ko = opened;
	if (!ko)
		return;
	table_deinit(&ko->table);
	image_bytes_release(&ko->strings);
	image_free(ko->image);
	free(ko);
}

DEFINE_CLEANUP(void *, ko_close)

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);
	return size >= end_size && !strcmp(text + size - end_size, end);
}

static struct sp_error *read_whole(const char *path, uint8_t **ret, size_t *size_ret)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status))
		return error_os(errno, "%s", path);
	if (!S_ISREG(status.st_mode) || status.st_size > (off_t)MODULE_SIZE_MAX)
		return error_new(SP_ERROR_INVALID, "%s: not a regular file, or too large", path);
	CLEANUP_FREE uint8_t *bytes = malloc((size_t)status.st_size + 1);
	if (!bytes)
		return error_no_memory();
	int errnum = io_pread(fd, bytes, (size_t)status.st_size, 0, size_ret);
	if (errnum)
		return error_os(errnum, "%s", path);
	*ret = take_ptr(bytes);
	return NULL;
}

static struct sp_error *open_packed(const char *path, bool is_xz, struct image **ret)
{
	CLEANUP_FREE uint8_t *packed = NULL;
	uint8_t *bytes;
	size_t size, packed_size;
	struct sp_error *error = read_whole(path, &packed, &packed_size);
	if (!error)
		error = (is_xz ? xz_unpack : zst_unpack)(packed, packed_size, MODULE_SIZE_MAX, path,
							 &bytes, &size);
	return error ?: image_open_memory(bytes, size, path, ret);
}

static struct sp_error *open_file(const char *path, struct image **ret)
{
	if (ends_with(path, ".xz"))
		return open_packed(path, true, ret);
	if (ends_with(path, ".zst"))
		return open_packed(path, false, ret);
	return image_open(path, ret);
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

/* Distances of the sections of code, or UINT64_MAX; the caller's to free. */
static uint64_t *lay_out(const struct image *image, size_t *count_ret)
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

static struct sp_error *read_table(struct ko *ko)
{
	size_t count;
	CLEANUP_FREE uint64_t *places = lay_out(ko->image, &count);
	struct symtab symtab;
	struct elf_symbol symbol;
	if (!places)
		return error_no_memory();
	struct sp_error *error = symtab_open(ko->image, ko->image, SYMTAB_FULL, &symtab);
	if (error)
		return error;
	while (!error && symtab_next(&symtab, &symbol))
		if (symbol.section < count && places[symbol.section] != UINT64_MAX &&
		    !table_add(&ko->table, places[symbol.section] + symbol.vaddr, symbol.size,
			       symbol.name, symbol.binding, symbol.type))
			error = error_no_memory();
	symtab_close(&symtab, &ko->strings);
	image_release_file(ko->image);
	return error ?: table_seal(&ko->table, NULL);
}

static bool is_recorded(const struct module *module, const struct image *image)
{
	return module->build_id_size > 0 &&
	       image_has_build_id(image, module->build_id, module->build_id_size);
}

static struct sp_error *use_file(const char *path, const struct module *module, void **ret)
{
	CLEANUP(cleanup_ko_close) void *opened = calloc(1, sizeof(struct ko));
	struct ko *ko = opened;
	if (!ko)
		return error_no_memory();
	struct sp_error *error = open_file(path, &ko->image);
	if (error || ko->image->type != ET_REL || !is_recorded(module, ko->image))
		return error;
	ko->start = module->start;
	error = read_table(ko);
	if (!error)
		*ret = take_ptr(opened);
	return error;
}

static struct sp_error *ko_open(const struct source_env *env, const struct module *module,
				uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	(void)pid;
	if (module->kind != MODULE_KERNEL_MODULE || module->path[0] != '/')
		return NULL;
	CLEANUP_FREE char *path = format_text("%s%s", env->options.symfs ?: "", module->path);
	if (!path)
		return error_no_memory();
	struct sp_error *error = use_file(path, module, ret);
	if (*ret)
		diagnosis_clear(diagnosis);
	if (!error || sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	/* What kallsyms said stays the reason: this was the last resort. */
	sp_error_free(error);
	return NULL;
}

static bool ko_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		    struct found *ret)
{
	(void)diagnosis;
	struct ko *ko = opened;
	const struct table_symbol *symbol = table_find(&ko->table, location->offset - ko->start);
	if (!symbol)
		return false;
	*ret = (struct found){
		.key = symbol->start,
		.raw_name = symbol->name,
		.start = symbol->start + ko->start,
		.size = symbol->end - symbol->start,
	};
	return true;
}

const struct source source_ko = {
	.name = "ko",
	.open = ko_open,
	.find = ko_find,
	.close = ko_close,
};
