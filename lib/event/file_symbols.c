/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/file_symbols.h"

#include <string.h>
#include "elf/symtab.h"
#include "event/event_names.h"

struct file_symbol_search {
	const char *name;
	size_t size;
	bool data;
	bool found, found_global;
	struct file_symbol best;
	struct near_search *near;
};

static void look_at(struct file_symbol_search *search, const struct elf_symbol *symbol)
{
	bool is_code = symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
		       symbol->type == STT_NOTYPE;
	bool is_data = symbol->type == STT_OBJECT;
	/* "memcpy@@GLIBC_2.14" has the name memcpy. */
	size_t length = strcspn(symbol->name, "@");
	if (!is_code && !(is_data && search->data))
		return;
	if (length != search->size || memcmp(symbol->name, search->name, length) != 0) {
		near_consider(search->near, symbol->name);
		return;
	}
	bool global = symbol->binding == STB_GLOBAL;
	if (search->found && (search->found_global || !global))
		return;
	search->found = true;
	search->found_global = global;
	search->best = (struct file_symbol){symbol->vaddr, symbol->size, is_code};
}

static struct sp_error *search_table(const struct image *image, enum symtab_kind kind,
				     struct file_symbol_search *search)
{
	struct symtab table;
	struct image_bytes strings = {0};
	struct elf_symbol symbol;
	TRY(symtab_open(image, image, kind, &table));
	while (symtab_next(&table, &symbol))
		look_at(search, &symbol);
	symtab_close(&table, &strings);
	image_bytes_release(&strings);
	return NULL;
}

struct sp_error *file_symbol_find(const struct image *image, const char *name, size_t size,
				  bool data, struct file_symbol *ret)
{
	struct near_search near = near_begin(name, size);
	struct file_symbol_search search = {
		.name = name, .size = size, .data = data, .near = &near};
	TRY(search_table(image, SYMTAB_FULL, &search));
	if (!search.found)
		TRY(search_table(image, SYMTAB_DYNAMIC, &search));
	if (search.found) {
		*ret = search.best;
		return NULL;
	}
	struct sp_error *error = error_new(SP_ERROR_NOT_FOUND, "%s has no symbol '%.*s'",
					   image->path, (int)size, name);
	if (*near.name)
		return error_set_remedy(error, "did you mean %s?", near.name);
	return error_set_remedy(error, symtab_exists(image) ? "`nm %s` lists its symbols" :
				"it is stripped: `nm -D %s` lists its symbols", image->path);
}
