/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/interpreter_files.h"

#include <string.h>
#include "base/cleanup.h"
#include "elf/symtab.h"

/* Interpreters have tables of 2 MB. Larger ones would take memory and the round's time. */
#define TABLE_BYTES_MAX ((uint64_t)16 << 20)

struct python_file {
	const struct module *module;
	struct python_addresses vaddrs; /* addresses in the file */
	uint64_t shift; /* vaddr minus file offset of the code */
	bool usable;
};

void python_files_init(struct python_files *files)
{
	*files = (struct python_files){0};
	pthread_mutex_init(&files->lock, NULL);
}

void python_files_deinit(struct python_files *files)
{
	vec_deinit(&files->list);
	pthread_mutex_destroy(&files->lock);
}

void python_files_drop(struct python_files *files)
{
	pthread_mutex_lock(&files->lock);
	files->list.count = 0;
	pthread_mutex_unlock(&files->lock);
}

static void add_symbol(struct python_addresses *vaddrs, const struct elf_symbol *symbol)
{
	if (!strcmp(symbol->name, "_PyRuntime")) {
		vaddrs->runtime = symbol->vaddr;
	} else if (!strcmp(symbol->name, "PyCode_Type")) {
		vaddrs->code_type = symbol->vaddr;
	} else if (!strcmp(symbol->name, "Py_Version")) {
		vaddrs->version = symbol->vaddr;
	} else if (!strcmp(symbol->name, "_PyEval_EvalFrameDefault")) {
		vaddrs->eval = symbol->vaddr;
		vaddrs->eval_size = symbol->size;
	}
}

static bool is_complete(const struct python_addresses *vaddrs)
{
	return vaddrs->runtime && vaddrs->code_type && vaddrs->version && vaddrs->eval &&
	       vaddrs->eval_size;
}

static void read_table(const struct image *image, enum symtab_kind kind,
		       struct python_addresses *vaddrs)
{
	struct symtab symtab;
	struct elf_symbol symbol;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		symtab_open(image, image, kind, &symtab);
	if (error)
		return;
	while (symtab_next(&symtab, &symbol))
		add_symbol(vaddrs, &symbol);
	symtab_close(&symtab, NULL);
}

/* Programs that embed the interpreter statically may not export its symbols. */
static void read_file(const struct binary_env *binaries, const struct location *location,
		      struct python_file *file)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = NULL;
	uint64_t vaddr;
	error = binary_open_code((void *)(uintptr_t)binaries, location->module, location->pid, &image);
	if (error || !image || !image_vaddr(image, location->offset, &vaddr) ||
	    symtab_bytes(image) > TABLE_BYTES_MAX)
		return;
	read_table(image, SYMTAB_DYNAMIC, &file->vaddrs);
	if (!is_complete(&file->vaddrs))
		read_table(image, SYMTAB_FULL, &file->vaddrs);
	file->shift = vaddr - location->offset;
	file->usable = is_complete(&file->vaddrs) && image->is_64bit;
}

static struct python_file *find(struct python_files *files, const struct module *module)
{
	vec_each (item, &files->list)
		if (item->module == module)
			return item;
	return NULL;
}

bool python_files_find(struct python_files *files, const struct binary_env *binaries,
		       const struct location *location, struct python_addresses *ret)
{
	pthread_mutex_lock(&files->lock);
	struct python_file *file = find(files, location->module);
	if (!file && (file = vec_push(&files->list))) {
		*file = (struct python_file){.module = location->module};
		read_file(binaries, location, file);
	}
	bool usable = file && file->usable;
	if (usable) {
		uint64_t bias = location->ip - (location->offset + file->shift);
		*ret = file->vaddrs;
		ret->runtime += bias;
		ret->code_type += bias;
		ret->version += bias;
		ret->eval += bias;
	}
	pthread_mutex_unlock(&files->lock);
	return usable;
}
