/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/function.h"

#include <stdio.h>
#include <string.h>
#include "base/bytes.h"

void functions_deinit(struct functions *functions)
{
	vec_deinit(functions);
	index_set_deinit(&functions->index_of);
	strtab_deinit(&functions->strings);
	arena_deinit(&functions->instructions);
	arena_deinit(&functions->names);
	vec_deinit(&functions->dsos);
	vec_deinit(&functions->named);
	u64map_deinit(&functions->named_of);
	u64map_deinit(&functions->several);
	*functions = (struct functions){0};
}

const char *functions_text(struct functions *functions, const char *text)
{
	return strtab_add(&functions->strings, text);
}

const char *functions_address(struct functions *functions, uint64_t address)
{
	char text[32];
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	return strtab_add(&functions->strings, text);
}

const char *functions_hex(struct functions *functions, const uint8_t *bytes, size_t size)
{
	char text[41];
	bytes_to_hex(bytes, size < 20 ? size : 20, text);
	return strtab_add(&functions->strings, text);
}

/* Whether both are the same file; without proof, files of different paths are not. */
static bool same_dso(const struct dso *a, const struct dso *b)
{
	if (a->name != b->name)
		return false;
	bool known = a->build_id && b->build_id;
	return !a->is_file || !b->is_file || a->path == b->path ||
	       (known && a->build_id == b->build_id);
}

const char *functions_dso(struct functions *functions, const struct dso *facts)
{
	const char *text = NULL;
	vec_each (dso, &functions->dsos) {
		if (same_dso(dso, facts) && (!text || dso->build_id == facts->build_id))
			text = dso->text;
	}
	text = text ?: arena_strdup(&functions->names, facts->name);
	struct dso *dso = text ? vec_push(&functions->dsos) : NULL;
	if (!dso)
		return NULL;
	*dso = *facts;
	dso->text = text;
	return text;
}

const struct named *functions_named(struct functions *functions, const struct named *facts)
{
	uint64_t hash = hash_pair((uintptr_t)facts->dso, (uintptr_t)facts->raw);
	if (!vec_reserve(&functions->named, functions->named.count + 1))
		return NULL;
	bool added;
	const uint32_t *index = u64map_put(&functions->named_of, hash_pair(hash, facts->place),
					   functions->named.count, &added);
	if (!index)
		return NULL;
	if (!added) {
		struct named *named = functions->named.items[*index];
		if (!named->file || (facts->file && strcmp(facts->file, named->file) < 0))
			named->file = facts->file;
		named->start = facts->start < named->start ? facts->start : named->start;
		return named;
	}
	struct named *named = arena_alloc(&functions->names, sizeof(*named));
	if (!named) {
		u64map_remove(&functions->named_of, hash_pair(hash, facts->place));
		return NULL;
	}
	*named = *facts;
	return *vec_push(&functions->named) = named;
}

/* Returns the pointer that identifies the symbol or the function: its named object, or its text. */
static uintptr_t symbol_key(const struct function *function)
{
	return function->symbol_of ? (uintptr_t)function->symbol_of : (uintptr_t)function->symbol;
}

static uintptr_t function_key(const struct function *function)
{
	return function->function_of ? (uintptr_t)function->function_of :
				       (uintptr_t)function->function;
}

static uint64_t identity(const struct function *function)
{
	uint64_t hash = hash_pair((uintptr_t)function->dso, symbol_key(function));
	hash = hash_pair(hash, function_key(function));
	if (function->srcfile)
		hash = hash_pair(hash, (uintptr_t)function->srcfile ^ function->line);
	if (function->instruction)
		hash = hash_pair(hash, function->instruction->offset);
	if (function->sampled)
		hash = hash_pair(hash, function->sampled);
	return hash;
}

int instruction_compare(const struct sp_instruction *a, const struct sp_instruction *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return (a->offset > b->offset) - (a->offset < b->offset);
}

bool function_equals(const struct function *a, const struct function *b, bool inlined_apart)
{
	if (a->dso != b->dso || symbol_key(a) != symbol_key(b) ||
	    function_key(a) != function_key(b) || a->srcfile != b->srcfile || a->line != b->line ||
	    a->sampled != b->sampled)
		return false;
	if ((a->symbol || a->function) && (a->level != b->level || a->known != b->known))
		return false;
	if (instruction_compare(a->instruction, b->instruction) != 0)
		return false;
	return !inlined_apart || a->inlined == b->inlined;
}

/*
 * Merges a duplicate in a way that does not depend on order: the lesser path, and a build-id only if
 * all duplicates have the same.
 */
static void merge(struct function *into, const struct function *from)
{
	if (into->dso_path && strcmp(from->dso_path, into->dso_path) < 0)
		into->dso_path = from->dso_path;
	if (from->build_id != into->build_id)
		into->build_id = NULL;
	if (from->level < into->level)
		into->level = from->level;
	if (from->start < into->start)
		into->start = from->start;
	if (!into->home || (from->home && strcmp(from->home, into->home) < 0))
		into->home = from->home;
	into->own_code &= from->own_code;
	into->inlined &= from->inlined;
}

uint32_t functions_add(struct functions *functions, const struct function *function)
{
	if (!index_set_reserve(&functions->index_of) ||
	    !vec_reserve(functions, functions->count + 1))
		return UINT32_MAX;
	struct index_probe probe = index_set_probe(&functions->index_of, identity(function));
	for (uint32_t i; index_set_next(&functions->index_of, &probe, &i);)
		if (function_equals(&functions->items[i], function, functions->inlined_apart)) {
			merge(&functions->items[i], function);
			return i;
		}
	uint32_t index = functions->count;
	*vec_push(functions) = *function;
	index_set_add(&functions->index_of, &probe, index);
	return index;
}

const char *function_name(const struct function *function)
{
	if (function->function)
		return function->function;
	if (function->symbol)
		return function->symbol;
	return function->srcfile ?: function->dso ?: "";
}

int text_compare(const char *a, const char *b)
{
	if (!a || !b || a == b)
		return (a > b) - (a < b);
	return strcmp(a, b);
}

int function_compare(const struct function *a, const struct function *b)
{
	int order = strcmp(function_name(a), function_name(b));
	order = order ? order : text_compare(a->dso, b->dso);
	order = order ? order : (a->start > b->start) - (a->start < b->start);
	order = order ? order : text_compare(a->home, b->home);
	order = order ? order : text_compare(a->srcfile, b->srcfile);
	order = order ? order : (a->line > b->line) - (a->line < b->line);
	order = order ? order : (int)a->inlined - (int)b->inlined;
	order = order ? order : (a->sampled > b->sampled) - (a->sampled < b->sampled);
	order = order ? order : instruction_compare(a->instruction, b->instruction);
	return order ? order : (int)a->level - (int)b->level;
}
