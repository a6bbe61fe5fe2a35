/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/module_namesakes.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "symbol/module_names.h"
#include "symbol/source_stored.h"

void namesakes_deinit(struct namesakes *namesakes)
{
	vec_deinit(namesakes);
}

void namesake_query_deinit(struct namesake_query *query)
{
	namesake_keys_deinit(&query->keys);
	vec_deinit(&query->added);
	u64map_deinit(&query->names);
	u64map_deinit(&query->raws);
}

static uint64_t text_hash(const char *text)
{
	return hash_bytes(text, strlen(text));
}

bool namesake_query_add(struct namesake_query *query, const char *name, const char *raw_name)
{
	struct queried_name *slot = vec_push(&query->added);
	if (slot)
		*slot = (struct queried_name){name, raw_name};
	return slot && namesake_keys_add(&query->keys, raw_name);
}

/*
 * Adds a function if the query has its shown name, or the raw name of its clone. Returns false when
 * out of memory.
 */
static bool add_found(struct module_names *names, struct namesake_query *query,
		      const struct listed_symbol *listed, struct namesakes *ret)
{
	const struct symbol *symbol = module_names_intern(names, &listed->found);
	if (!symbol)
		return false;
	const char *suffix = namesake_suffix(symbol->raw_name);
	if (!strncmp(suffix, ".cold", 5))
		return true;
	bool same_raw = u64map_find(query->symbols, (uintptr_t)symbol);
	if (!same_raw) {
		for (; query->hashed < query->added.count; query->hashed++) {
			const struct queried_name *added = &query->added.items[query->hashed];
			if (!u64map_put(&query->names, text_hash(added->name), 0, NULL) ||
			    !u64map_put(&query->raws, namesake_raw_hash(added->raw_name), 0, NULL))
				return false;
		}
		same_raw = u64map_find(&query->raws, namesake_raw_hash(symbol->raw_name));
		if (!u64map_find(&query->names, text_hash(symbol->name)) &&
		    !(*suffix && same_raw))
			return true;
	}
	struct namesake *namesake = vec_push(ret);
	if (!namesake)
		return false;
	*namesake = (struct namesake){symbol, listed->offset, same_raw};
	return true;
}

/* Lists the sampled places of functions in the debug information, inlined ones included. */
static bool add_sources(const struct module_names *names, const struct namesake_query *query,
			struct namesakes *ret)
{
	struct listed_symbols listed = {0};
	void *stored = names->source == &source_stored ? names->opened : names->stored;
	bool good = !stored || source_stored_list_sources(stored, &query->keys, &listed);
	good = good && vec_reserve(ret, ret->count + listed.count);
	for (size_t i = 0; i < listed.count && good; i++)
		*vec_push(ret) = (struct namesake){.offset = listed.items[i].offset};
	vec_deinit(&listed);
	return good;
}

bool namesakes_list(struct module_names *names, struct namesake_query *query,
		    struct namesakes *ret)
{
	struct listed_symbols listed = {0};
	bool good = true;
	if (names->source->list) {
		good = names->source->list(names->opened, &query->keys, &listed);
	} else if (names->stored) {
		good = source_stored.list(names->stored, &query->keys, &listed);

		/*
		 * Finds the symbols again in the module's source, where the stored names list them.
		 */
		size_t left = 0;
		vec_each (at, &listed) {
			const struct location location = {.module = query->module,
							  .offset = at->offset,
							  .ip = at->offset,
							  .pid = query->pid};
			if (names->source->find(names->opened, &location, &names->diagnosis,
						&at->found))
				listed.items[left++] = *at;
		}
		listed.count = left;
	}
	for (size_t i = 0; i < listed.count && good; i++)
		good = add_found(names, query, &listed.items[i], ret);
	vec_deinit(&listed);
	return good && (!query->sourced || add_sources(names, query, ret));
}

/* Returns a hash of the raw name and the source file; 0: the file is unknown, or has folders. */
static uint64_t file_hash(const struct symbol *symbol)
{
	if (!symbol || !symbol->object || strchr(symbol->object, '/'))
		return 0;
	return hash_pair(text_hash(symbol->raw_name), text_hash(symbol->object));
}

DEFINE_ORDER(compare_offsets, struct namesake, offset)

bool namesakes_list_equal(const struct namesakes *namesakes, struct namesakes *ret)
{
	struct u64map counts = {0};
	CLEANUP_FREE uint64_t *hashes = calloc(namesakes->count + 1, sizeof(*hashes));
	bool good = hashes != NULL;
	for (size_t i = 0; i < namesakes->count && good; i++) {
		hashes[i] = file_hash(namesakes->items[i].symbol);
		uint32_t *count = hashes[i] ? u64map_put(&counts, hashes[i], 0, NULL) : NULL;
		good = !hashes[i] || count;
		if (count)
			++*count;
	}
	for (size_t i = 0; i < namesakes->count && good; i++) {
		if (!hashes[i] || *u64map_find(&counts, hashes[i]) < 2)
			continue;
		struct namesake *namesake = vec_push(ret);
		good = namesake;
		if (good)
			*namesake = namesakes->items[i];
	}
	vec_sort(ret, compare_offsets);
	u64map_deinit(&counts);
	return good;
}
