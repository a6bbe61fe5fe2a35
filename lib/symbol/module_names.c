/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/module_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "symbol/demangle.h"
#include "symbol/source_stored.h"

void module_names_drop_lines(struct module_names *names)
{
	known_lines_deinit(&names->known);
	lines_deinit(&names->lines);
}

void module_names_close_lines(struct module_names *names)
{
	dwarf_free(names->dwarf);
	names->dwarf = NULL;
	names->stays_open = false;
}

void module_names_free(struct module_names *names)
{
	if (!names)
		return;
	module_names_close_lines(names);
	if (names->opened && names->source->close)
		names->source->close(names->opened);
	if (names->stored)
		source_stored.close(names->stored);
	image_free(names->code);
	diagnosis_clear(&names->diagnosis);
	diagnosis_clear(&names->lines_diagnosis);
	module_names_drop_lines(names);
	name_log_deinit(&names->log);
	vec_deinit(&names->symbols);
	u64map_deinit(&names->by_key);
	u64map_deinit(&names->by_range);
	arena_deinit(&names->arena);
	free(names);
}

/* Returns the name to show: the symbol's, or a range's address. */
static const char *name_of(struct module_names *names, const struct found *found)
{
	char text[48];
	if (found->from_cfi && !found->raw_name) {
		int size = found->is_gap ?
			snprintf(text, sizeof(text), "0x%" PRIx64 "-0x%" PRIx64, found->key,
				 found->key + found->size) :
			snprintf(text, sizeof(text), "fn@0x%" PRIx64, found->key);
		return arena_copy_string(&names->arena, text, size);
	}
	const char *name = found->mangled ? demangle(found->raw_name, &names->arena) : NULL;
	return name ?: found->raw_name;
}

static const struct symbol *new_symbol(struct module_names *names, const struct found *found)
{
	struct symbol *symbol = arena_alloc(&names->arena, sizeof(*symbol));
	const char *name = symbol ? name_of(names, found) : NULL;
	struct symbol **slot = name ? vec_push(&names->symbols) : NULL;
	if (!slot)
		return NULL;
	*symbol = (struct symbol){
		.name = name,
		.raw_name = found->raw_name ?: name,
		.start = found->start,
		.size = found->size,
		.object = found->object,
		.from_cfi = found->from_cfi,
	};
	*slot = symbol;
	return symbol;
}

const struct symbol *module_names_intern(struct module_names *names, const struct found *found)
{
	struct u64map *map = found->from_cfi ? &names->by_range : &names->by_key;
	bool added;
	uint32_t *index = u64map_put(map, found->key, names->symbols.count, &added);
	if (!index || !added)
		return index ? names->symbols.items[*index] : NULL;
	const struct symbol *symbol = new_symbol(names, found);
	if (!symbol)
		u64map_remove(map, found->key);
	return symbol;
}
