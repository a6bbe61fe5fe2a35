/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for names that the recording stores (stored/stored_names.h). They are the claims of the
 * recording's maker: resolver.c prefers a file that is proven to be the recorded one, and knows as
 * much.
 */
#include "symbol/source_stored.h"

#include <string.h>
#include "base/cleanup.h"
#include "symbol/demangle.h"
#include "symbol/namesake_keys.h"
#include "symbol/source.h"

struct opened_names {
	const struct stored_module *module; /* borrowed from the env */
	struct source_frame *frames;        /* by index; in the resolver's arena; NULL: not made yet */
};

const struct stored_module *source_stored_module(const struct source_env *env,
						 const struct module *module)
{
	const struct stored_key key = binary_stored_key(module);
	return stored_find(env->binary.stored, &key);
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	const struct stored_module *stored = source_stored_module(env, module);
	(void)pid;
	if (!stored)
		return NULL;
	if (stored->points.count || stored->symbols_problem.problem) {
		/*
		 * Copies the cause of missing names from the stored names. The remedy is not of the
		 * recording: it would be an untrusted command to paste.
		 */
		const char *remedy =
			module->kind == MODULE_FILE &&
					stored->symbols_problem.problem == RESOLVER_NO_SYMBOLS
				? source_debug_remedy(env, module)
				: NULL;
		diagnosis_clear(diagnosis);
		if (stored->symbols_problem.problem > RESOLVER_OK &&
		    stored->symbols_problem.problem <= RESOLVER_TOO_LARGE &&
		    stored->symbols_problem.text)
			diagnosis_set(diagnosis, stored->symbols_problem.problem, remedy,
				      "%s (according to the recording)",
				      stored->symbols_problem.text);
	}
	if (!stored->points.count)
		return NULL;
	struct opened_names *names = calloc(1, sizeof(*names));
	NEED(names);
	names->module = stored;
	*ret = names;
	return NULL;
}

static void names_close(void *opened)
{
	free(opened);
}

static struct found found_symbol(const struct stored_module *module, uint32_t number)
{
	const struct stored_symbol *symbol = &module->symbols.items[number - 1];
	return (struct found){
		.key = number,
		.raw_name = symbol->name,
		.start = symbol->start,
		.size = symbol->size,
		.object = symbol->object,
		.mangled = symbol->mangled,
		.from_cfi = symbol->from_cfi,
	};
}

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	const struct stored_module *module = ((struct opened_names *)opened)->module;
	const struct stored_point *point = stored_module_point(module, location->offset);
	(void)diagnosis;
	if (!point || !point->symbol)
		return false;
	*ret = found_symbol(module, point->symbol);
	return true;
}

/* Lists each symbol once, with the first of its places. */
static bool names_list(void *opened, const struct namesake_keys *keys,
		       struct listed_symbols *ret)
{
	const struct stored_module *module = ((struct opened_names *)opened)->module;
	CLEANUP_FREE bool *is_listed = calloc(module->symbols.count + 1, sizeof(*is_listed));
	for (size_t i = 0; i < module->points.count && is_listed; i++) {
		const struct stored_point *point = &module->points.items[i];
		if (!point->symbol || is_listed[point->symbol])
			continue;
		is_listed[point->symbol] = true;
		const struct found found = found_symbol(module, point->symbol);
		if (found.from_cfi || !namesake_keys_have(keys, found.raw_name))
			continue;
		if (!vec_append(ret, (struct listed_symbol){found, point->offset}))
			return false;
	}
	return is_listed;
}

/* Adds a place if a function there has one of the keys. `known` has the tried functions. */
static bool list_chain(const struct stored_module *module, const struct stored_point *point,
		       const struct namesake_keys *keys, struct u64map *known,
		       struct listed_symbols *ret)
{
	bool wanted = false, added;
	for (uint32_t at = point->frame; at; at = module->frames.items[at - 1].caller) {
		const struct stored_frame *frame = &module->frames.items[at - 1];
		uint64_t hash = hash_pair((uintptr_t)frame->name, (uintptr_t)frame->file);
		if (!u64map_put(known, hash_pair(hash, frame->start), 0, &added))
			return false;
		wanted |= added && frame->name && namesake_keys_have(keys, frame->name);
	}
	struct listed_symbol *listed = wanted ? vec_push(ret) : NULL;
	if (listed)
		*listed = (struct listed_symbol){.offset = point->offset};
	return listed || !wanted;
}

bool source_stored_list_sources(void *opened, const struct namesake_keys *keys,
				struct listed_symbols *ret)
{
	const struct stored_module *module = ((struct opened_names *)opened)->module;
	struct u64map known = {0};
	bool good = true;
	for (size_t i = 0; i < module->points.count && good; i++)
		good = list_chain(module, &module->points.items[i], keys, &known, ret);
	u64map_deinit(&known);
	return good;
}

static bool names_vaddr(void *opened, uint64_t offset, uint64_t *ret)
{
	const struct stored_module *module = ((struct opened_names *)opened)->module;
	const struct stored_point *point = stored_module_point(module, offset);
	if (!point || !point->has_vaddr)
		return false;
	*ret = point->vaddr;
	return true;
}

static bool names_have_lines(void *opened, const struct source_env *env,
			     const struct module *module)
{
	(void)env;
	(void)module;
	return ((struct opened_names *)opened)->module->has_lines;
}

/* Makes all frames of the module; callers come before their callees. */
static struct source_frame *make_frames(const struct stored_module *module, struct arena *arena)
{
	struct source_frame *frames = arena_alloc(arena, module->frames.count * sizeof(*frames));
	for (size_t i = 0; i < module->frames.count && frames; i++) {
		const struct stored_frame *from = &module->frames.items[i];
		const char *shown = from->name && from->mangled ? demangle(from->name, arena) : NULL;
		frames[i] = (struct source_frame){
			.name = shown ?: from->name,
			.raw_name = from->name,
			.file = from->file,
			.caller = from->caller ? &frames[from->caller - 1] : NULL,
			.start = from->start,
			.line = from->line,
			.declared = from->declared,
			.number = i,
		};
	}
	return frames;
}

static struct sp_error *names_frames(void *opened, const uint64_t *offsets, size_t count,
				     struct arena *arena, struct source_frames *ret)
{
	struct opened_names *names = opened;
	if (!names->frames)
		names->frames = make_frames(names->module, arena);
	NEED(names->frames);
	ret->distinct = names->module->frames.count;
	for (size_t i = 0; i < count; i++) {
		const struct stored_point *point = stored_module_point(names->module, offsets[i]);
		if (point && point->frame)
			ret->items[i] = &names->frames[point->frame - 1];
	}
	return NULL;
}

/* Reads code from the last stored bytes that begin at or before it: none are within others. */
static bool names_read_code(void *opened, uint64_t offset, uint64_t from, size_t size, uint8_t *ret,
			    uint16_t *machine_ret)
{
	const struct stored_module *module = ((struct opened_names *)opened)->module;
	size_t count = sorted_up_to(module->codes.items, module->codes.count, .offset, from);
	(void)offset;
	if (!count)
		return false;
	const struct stored_code *code = &module->codes.items[count - 1];
	uint64_t skip = from - code->offset;
	if (skip > code->size || size > code->size - skip)
		return false;
	memcpy(ret, code->bytes + skip, size);
	*machine_ret = module->machine;
	return true;
}

const struct source source_stored = {
	.name = "stored",
	.open = names_open,
	.find = names_find,
	.list = names_list,
	.close = names_close,
	.vaddr = names_vaddr,
	.has_lines = names_have_lines,
	.frames = names_frames,
	.read_code = names_read_code,
};
