/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void functions_deinit(struct functions *functions)
{
	vec_deinit(functions);
	vec_deinit(&functions->dsos);
	free(functions->slots);
	strtab_deinit(&functions->strings);
	u64map_deinit(&functions->dso_of);
	*functions = (struct functions){0};
}

static uint64_t identity(const struct function *function)
{
	uint64_t hash = hash_pair((uintptr_t)function->dso, (uintptr_t)function->symbol);
	return hash_pair(hash_pair(hash, function->start), function->size) ^ function->level;
}

static bool same_function(const struct function *a, const struct function *b)
{
	return a->dso == b->dso && a->symbol == b->symbol && a->start == b->start &&
	       a->size == b->size && a->known == b->known && a->level == b->level;
}

static bool grow(struct functions *functions)
{
	size_t count = functions->slot_count ? functions->slot_count * 2 : 256;
	uint32_t *slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < functions->count; i++) {
		size_t slot = identity(&functions->items[i]) & (count - 1);
		while (slots[slot])
			slot = (slot + 1) & (count - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	free(functions->slots);
	functions->slots = slots;
	functions->slot_count = count;
	return true;
}

static const char *hex(struct strtab *strings, const uint8_t *bytes, size_t size)
{
	char text[41] = "";
	for (size_t i = 0; i < size && i < 20; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return strtab_add(strings, text);
}

/* The same whichever comes first: the lesser path, and a build-id only if all have it. */
static void merge_file(struct function *into, const struct function *from)
{
	if (strcmp(from->dso_path, into->dso_path) < 0)
		into->dso_path = from->dso_path;
	if (from->build_id != into->build_id)
		into->build_id = NULL;
	if (from->level < into->level)
		into->level = from->level;
}

static bool add_dso(struct functions *functions, struct function *function)
{
	bool added;
	if (!vec_reserve(&functions->dsos, functions->dsos.count + 1))
		return false;
	const uint32_t *index = u64map_put(&functions->dso_of, (uintptr_t)function->dso,
					   (uint32_t)functions->dsos.count, &added);
	if (!index)
		return false;
	function->dso_index = *index;
	if (added)
		*vec_push(&functions->dsos) = *function;
	else
		merge_file(&functions->dsos.items[*index], function);
	return true;
}

static bool fill(struct functions *functions, const struct function_source *source,
		 struct function *function)
{
	char address[32];
	const char *symbol = source->symbol;
	if (!symbol) {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)source->start);
		symbol = address;
	}
	*function = (struct function){
		.dso = strtab_add(&functions->strings, source->dso),
		.dso_path = strtab_add(&functions->strings, source->dso_path),
		.symbol = strtab_add(&functions->strings, symbol),
		.start = source->start,
		.size = source->size,
		.known = source->symbol != NULL,
		.level = source->level,
	};
	if (source->build_id_size)
		function->build_id = hex(&functions->strings, source->build_id,
					 source->build_id_size);
	return function->dso && function->dso_path && function->symbol &&
	       (function->build_id || !source->build_id_size);
}

uint32_t functions_add(struct functions *functions, const struct function_source *source)
{
	struct function function;
	if ((functions->count + 1) * 4 > functions->slot_count * 3 && !grow(functions))
		return UINT32_MAX;
	if (!fill(functions, source, &function) || !add_dso(functions, &function) ||
	    !vec_reserve(functions, functions->count + 1))
		return UINT32_MAX;
	size_t slot = identity(&function) & (functions->slot_count - 1);
	for (; functions->slots[slot]; slot = (slot + 1) & (functions->slot_count - 1)) {
		struct function *old = &functions->items[functions->slots[slot] - 1];
		if (same_function(old, &function)) {
			merge_file(old, &function);
			return functions->slots[slot] - 1;
		}
	}
	*vec_push(functions) = function;
	functions->slots[slot] = (uint32_t)functions->count;
	return (uint32_t)functions->count - 1;
}

int function_compare(const struct function *a, const struct function *b)
{
	int order = strcmp(a->symbol, b->symbol);
	if (!order)
		order = strcmp(a->dso, b->dso);
	if (!order && a->start != b->start)
		order = a->start < b->start ? -1 : 1;
	if (!order && a->size != b->size)
		order = a->size < b->size ? -1 : 1;
	return order ? order : (int)a->level - (int)b->level;
}
