/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source for kernel modules by their files, if no kallsyms has their symbols. */
#include "symbol/ko.h"

#include "elf/symtab.h"

static struct sp_error *read_table(struct kernel_file *ko)
{
	size_t count;
	CLEANUP_FREE uint64_t *places = ko_lay_out(ko->image, &count);
	struct symtab symtab;
	struct elf_symbol symbol;
	struct sp_error *error = NULL;
	NEED(places);
	TRY(symtab_open(ko->image, ko->image, SYMTAB_FULL, &symtab));
	while (!error && symtab_next(&symtab, &symbol))
		if (symbol.section < count && places[symbol.section] != UINT64_MAX &&
		    !table_add(&ko->table, places[symbol.section] + symbol.vaddr, symbol.size,
			       symbol.name, symbol.binding, symbol.type))
			error = error_no_memory();
	return kernel_file_seal(ko, &symtab, error);
}

static struct sp_error *open_names(const struct source_env *env, const struct module *module,
				   void **ret)
{
	CLEANUP(cleanup_kernel_file_close) struct kernel_file *ko = calloc(1, sizeof(*ko));
	NEED(ko);
	TRY(ko_find(env, module, symtab_exists, &ko->image));
	if (!ko->image)
		return NULL;
	ko->shift = module->start;
	TRY(read_table(ko));
	*ret = take_ptr(ko);
	return NULL;
}

static struct sp_error *ko_open(const struct source_env *env, const struct module *module,
				uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	(void)pid;
	struct sp_error *error = open_names(env, module, ret);
	if (*ret)
		diagnosis_clear(diagnosis);
	/* This is the last source, so the cause that kallsyms gave is kept. */
	return error_if_no_memory(error);
}

/* Lines need no check of the layout (struct ko_check): the symbols are from the same file. */
static bool ko_knows_lines(void *opened, const struct source_env *env, const struct module *module)
{
	(void)opened;
	return ko_has_lines(env, module);
}

static struct sp_error *ko_lines(void *opened, const struct source_env *env,
				 const struct module *module, struct diagnosis *diagnosis,
				 struct dwarf **ret, struct placement *placement_ret)
{
	static const struct ko_check none;
	(void)opened;
	return ko_open_lines(env, module, &none, diagnosis, ret, placement_ret);
}

const struct source source_ko = {
	.name = "ko",
	.open = ko_open,
	.find = kernel_file_find,
	.close = kernel_file_close,
	.has_lines = ko_knows_lines,
	.open_lines = ko_lines,
};
