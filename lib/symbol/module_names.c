/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/module_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbol/demangle.h"
#include "symbol/source_stored.h"

void name_log_deinit(struct name_log *log)
{
	u64map_deinit(&log->by_offset);
	vec_deinit(&log->points);
	vec_deinit(&log->codes);
	arena_deinit(&log->bytes);
	*log = (struct name_log){0};
}

/* Returns the point at an offset, added if it is new; NULL when out of memory. */
static struct name_point *point_at(struct name_log *log, uint64_t offset)
{
	struct name_point *point = u64map_item(&log->by_offset, offset, &log->points);
	log->no_memory |= !point;
	if (point)
		point->offset = offset;
	return point;
}

void name_log_add_symbol(struct name_log *log, uint64_t offset, const struct symbol *symbol)
{
	struct name_point *point = point_at(log, offset);
	if (point)
		point->symbol = symbol;
}

void name_log_add_vaddr(struct name_log *log, uint64_t offset, uint64_t vaddr)
{
	struct name_point *point = point_at(log, offset);
	if (!point)
		return;
	point->vaddr = vaddr;
	point->has_vaddr = true;
}

void name_log_add_sources(struct name_log *log, const struct source_query *query,
			  const struct source_frames *frames)
{
	for (size_t i = 0; i < query->count; i++) {
		struct name_point *point =
			frames->items[i] ? point_at(log, query->offsets[i]) : NULL;
		if (point)
			point->innermost = frames->items[i];
	}
}

void name_log_add_code(struct name_log *log, uint64_t offset, const uint8_t *bytes, size_t size,
		       uint16_t machine)
{
	uint8_t *copy = arena_alloc(&log->bytes, size);
	struct stored_code *code = copy ? vec_push(&log->codes) : NULL;
	log->no_memory |= !code;
	if (!code)
		return;
	memcpy(copy, bytes, size);
	*code = (struct stored_code){.offset = offset, .bytes = copy, .size = size};
	log->machine = machine;
}

/* Conversion of one log. Indexes are those of the stored module, + 1. */
struct storing {
	struct stored_names *names;
	struct stored_module *module;
	struct u64map symbols, frames; /* address of a symbol or frame -> its index */
	struct u64map points;          /* offset -> index of the stored point */
};

static const char *copy_text(struct storing *storing, const char *text, bool *good)
{
	const char *copy = text ? strtab_add(&storing->names->texts, text) : NULL;
	*good &= copy || !text;
	return copy;
}

/* Sets the index of a symbol, which is added if it is new. */
static bool store_symbol(struct storing *storing, const struct symbol *symbol, uint32_t *ret)
{
	bool added, good = true;
	struct stored_module *module = storing->module;
	if (!symbol)
		return true;
	const uint32_t *index = u64map_put(&storing->symbols, (uintptr_t)symbol,
					   (uint32_t)module->symbols.count + 1, &added);
	if (!index || !vec_reserve(&module->symbols, module->symbols.count + 1))
		return false;
	*ret = *index;
	if (!added)
		return true;
	*vec_push(&module->symbols) = (struct stored_symbol){
		.start = symbol->start,
		.size = symbol->size,
		.name = copy_text(storing, symbol->raw_name, &good),
		.object = copy_text(storing, symbol->object, &good),
		.mangled = symbol->name != symbol->raw_name,
		.from_cfi = symbol->from_cfi,
	};
	return good;
}

static bool add_frame(struct storing *storing, const struct source_frame *frame, uint32_t caller,
		      uint32_t *ret)
{
	bool added, good = true;
	struct stored_module *module = storing->module;
	const uint32_t *index = u64map_put(&storing->frames, (uintptr_t)frame,
					   (uint32_t)module->frames.count + 1, &added);
	if (!index || !vec_reserve(&module->frames, module->frames.count + 1))
		return false;
	*ret = *index;
	if (!added)
		return true;
	*vec_push(&module->frames) = (struct stored_frame){
		.name = copy_text(storing, frame->raw_name ?: frame->name, &good),
		.file = copy_text(storing, frame->file, &good),
		.start = frame->start,
		.caller = caller,
		.line = frame->line,
		.declared = frame->declared,
		.mangled = frame->raw_name && frame->raw_name != frame->name,
	};
	return good;
}

/*
 * Sets the index of the innermost frame. Adds it and its callers, outermost first, if they are new.
 */
static bool store_frames(struct storing *storing, const struct source_frame *innermost,
			 uint32_t *ret)
{
	VEC(const struct source_frame *) chain = {0};
	bool good = true;
	for (const struct source_frame *at = innermost; at && good; at = at->caller) {
		const struct source_frame **slot = vec_push(&chain);
		good = slot;
		if (slot)
			*slot = at;
	}
	for (uint32_t caller = 0; chain.count && good; caller = *ret)
		good = add_frame(storing, chain.items[--chain.count], caller, ret);
	vec_deinit(&chain);
	return good;
}

static bool store_point(struct storing *storing, const struct name_point *point)
{
	struct stored_point *stored =
		u64map_item(&storing->points, point->offset, &storing->module->points);
	if (!stored)
		return false;
	stored->offset = point->offset;
	if (point->has_vaddr) {
		stored->vaddr = point->vaddr;
		stored->has_vaddr = true;
	}
	return store_symbol(storing, point->symbol, &stored->symbol) &&
	       store_frames(storing, point->innermost, &stored->frame);
}

static bool store_code(struct storing *storing, const struct stored_code *code)
{
	uint8_t *copy = arena_alloc(&storing->names->code, code->size);
	struct stored_code *slot = copy ? vec_push(&storing->module->codes) : NULL;
	if (!slot)
		return false;
	memcpy(copy, code->bytes, code->size);
	*slot = (struct stored_code){.offset = code->offset, .bytes = copy, .size = code->size};
	return true;
}

static bool store_problem(struct storing *storing, const struct diagnosis *diagnosis,
			  struct stored_problem *ret)
{
	bool good = true;
	*ret = (struct stored_problem){
		.problem = diagnosis->problem,
		.text = copy_text(storing, diagnosis->text, &good),
		.remedy = copy_text(storing, diagnosis->remedy, &good),
	};
	return good;
}

/* Indexes the points that earlier logs of the module stored. */
static bool index_points(struct storing *storing)
{
	for (size_t i = 0; i < storing->module->points.count; i++)
		if (!u64map_put(&storing->points, storing->module->points.items[i].offset, i, NULL))
			return false;
	return true;
}

static bool store_all(struct storing *storing, const struct name_log *log,
		      const struct module_names *names)
{
	struct stored_module *module = storing->module;
	bool good = index_points(storing) &&
		    store_problem(storing, &names->diagnosis, &module->symbols_problem) &&
		    store_problem(storing, &names->lines_diagnosis, &module->lines_problem);
	for (size_t i = 0; i < log->points.count && good; i++) {
		good = store_point(storing, &log->points.items[i]);
		module->has_lines |= log->points.items[i].innermost != NULL;
	}
	for (size_t i = 0; i < log->codes.count && good; i++)
		good = store_code(storing, &log->codes.items[i]);
	if (log->machine)
		module->machine = log->machine;
	return good;
}

bool name_log_store(const struct name_log *log, const struct module_names *names,
		    struct stored_names *ret)
{
	const struct stored_key key = binary_stored_key(names->module);
	struct storing storing = {
		.names = ret,
		.module = stored_names_find(ret, &key) ?: stored_names_add(ret, &key),
	};
	bool good = storing.module && !log->no_memory && store_all(&storing, log, names);
	u64map_deinit(&storing.symbols);
	u64map_deinit(&storing.frames);
	u64map_deinit(&storing.points);
	return good;
}

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
