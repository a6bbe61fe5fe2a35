/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source for kernel modules by their files, if no kallsyms has their symbols. */
#include "symbol/ko.h"

#include "elf/symtab.h"
#include "symbol/symbol_table.h"

struct ko {
	struct image *image;
	struct image_bytes strings;
	struct symbol_table table; /* by distance from the module's first code */
	uint64_t start;     /* address of the module's first code */
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

static struct sp_error *read_table(struct ko *ko)
{
	size_t count;
	CLEANUP_FREE uint64_t *places = ko_lay_out(ko->image, &count);
	struct symtab symtab;
	struct elf_symbol symbol;
	NEED(places);
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
	return error ?: table_seal(&ko->table, TABLE_REACH_ANY);
}

static struct sp_error *open_names(const struct source_env *env, const struct module *module,
				   void **ret)
{
	CLEANUP(cleanup_ko_close) void *opened = calloc(1, sizeof(struct ko));
	struct ko *ko = opened;
	NEED(ko);
	struct sp_error *error = ko_find(env, module, symtab_exists, &ko->image);
	if (error || !ko->image)
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
	struct sp_error *error = open_names(env, module, ret);
	if (*ret)
		diagnosis_clear(diagnosis);
	if (!error || sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	/* This is the last source, so the cause that kallsyms gave is kept. */
	sp_error_free(error);
	return NULL;
}

static bool ko_find_symbol(void *opened, const struct location *location,
			   struct diagnosis *diagnosis, struct found *ret)
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
		.stretched = !symbol->sized,
	};
	return true;
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
	.find = ko_find_symbol,
	.close = ko_close,
	.has_lines = ko_knows_lines,
	.open_lines = ko_lines,
};
