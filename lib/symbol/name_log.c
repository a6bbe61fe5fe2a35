/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/name_log.h"

#include <string.h>

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

/*
 * Conversion of one log. Functions return the index of a stored item + 1; 0: none, or out of
 * memory. The maps have indexes.
 */
struct storing {
	struct stored_names *names;
	struct stored_module *module;
	struct u64map symbols, frames; /* address of a symbol or frame -> index of the stored one */
	struct u64map points;	       /* offset -> index of the stored point */
	bool no_memory;
};

static const char *copy_text(struct storing *storing, const char *text)
{
	const char *copy = text ? strtab_add(&storing->names->texts, text) : NULL;
	storing->no_memory |= text && !copy;
	return copy;
}

/* Returns the index of a symbol, which is added if it is new. */
static uint32_t store_symbol(struct storing *storing, const struct symbol *symbol)
{
	struct stored_module *module = storing->module;
	size_t known = module->symbols.count;
	struct stored_symbol *stored =
		u64map_item(&storing->symbols, (uintptr_t)symbol, &module->symbols);
	storing->no_memory |= !stored;
	if (module->symbols.count > known)
		*stored = (struct stored_symbol){
			.start = symbol->start,
			.size = symbol->size,
			.name = copy_text(storing, symbol->raw_name),
			.object = copy_text(storing, symbol->object),
			.mangled = symbol->name != symbol->raw_name,
			.from_cfi = symbol->from_cfi,
		};
	return stored ? (uint32_t)(stored - module->symbols.items) + 1 : 0;
}

static uint32_t store_frame(struct storing *storing, const struct source_frame *frame,
			    uint32_t caller)
{
	struct stored_module *module = storing->module;
	size_t known = module->frames.count;
	struct stored_frame *stored =
		u64map_item(&storing->frames, (uintptr_t)frame, &module->frames);
	storing->no_memory |= !stored;
	if (module->frames.count > known)
		*stored = (struct stored_frame){
			.name = copy_text(storing, frame->raw_name ?: frame->name),
			.file = copy_text(storing, frame->file),
			.start = frame->start,
			.caller = caller,
			.line = frame->line,
			.declared = frame->declared,
			.mangled = frame->raw_name && frame->raw_name != frame->name,
		};
	return stored ? (uint32_t)(stored - module->frames.items) + 1 : 0;
}

/* Returns the index of the innermost frame. Adds it after its callers, outermost first. */
static uint32_t store_frames(struct storing *storing, const struct source_frame *innermost)
{
	VEC(const struct source_frame *) chain = {0};
	uint32_t index = 0;
	for (const struct source_frame *at = innermost; at; at = at->caller)
		storing->no_memory |= !vec_append(&chain, at);
	while (chain.count)
		index = store_frame(storing, chain.items[--chain.count], index);
	vec_deinit(&chain);
	return index;
}

static void store_point(struct storing *storing, const struct name_point *point)
{
	struct stored_point *stored =
		u64map_item(&storing->points, point->offset, &storing->module->points);
	storing->no_memory |= !stored;
	if (!stored)
		return;
	stored->offset = point->offset;
	if (point->has_vaddr) {
		stored->vaddr = point->vaddr;
		stored->has_vaddr = true;
	}
	if (point->symbol)
		stored->symbol = store_symbol(storing, point->symbol);
	if (point->innermost)
		stored->frame = store_frames(storing, point->innermost);
}

static void store_code(struct storing *storing, const struct stored_code *code)
{
	uint8_t *copy = arena_alloc(&storing->names->code, code->size);
	struct stored_code *slot = copy ? vec_push(&storing->module->codes) : NULL;
	storing->no_memory |= !slot;
	if (!slot)
		return;
	memcpy(copy, code->bytes, code->size);
	*slot = (struct stored_code){.offset = code->offset, .bytes = copy, .size = code->size};
}

static void store_problem(struct storing *storing, const struct diagnosis *diagnosis,
			  struct stored_problem *ret)
{
	*ret = (struct stored_problem){
		.problem = diagnosis->problem,
		.text = copy_text(storing, diagnosis->text),
		.remedy = copy_text(storing, diagnosis->remedy),
	};
}

static void store_all(struct storing *storing, const struct name_log *log,
		      const struct diagnosis *symbols, const struct diagnosis *lines)
{
	struct stored_module *module = storing->module;
	/* Indexes the points that earlier logs of the module stored. */
	for (size_t i = 0; i < module->points.count; i++)
		storing->no_memory |=
			!u64map_put(&storing->points, module->points.items[i].offset, i, NULL);
	store_problem(storing, symbols, &module->symbols_problem);
	store_problem(storing, lines, &module->lines_problem);
	for (size_t i = 0; i < log->points.count && !storing->no_memory; i++) {
		store_point(storing, &log->points.items[i]);
		module->has_lines |= log->points.items[i].innermost != NULL;
	}
	for (size_t i = 0; i < log->codes.count && !storing->no_memory; i++)
		store_code(storing, &log->codes.items[i]);
	if (log->machine)
		module->machine = log->machine;
}

bool name_log_store(const struct name_log *log, const struct stored_key *key,
		    const struct diagnosis *symbols, const struct diagnosis *lines,
		    struct stored_names *ret)
{
	struct storing storing = {
		.names = ret,
		.module = stored_names_find(ret, key) ?: stored_names_add(ret, key),
	};
	if (!storing.module || log->no_memory)
		return false;
	store_all(&storing, log, symbols, lines);
	u64map_deinit(&storing.symbols);
	u64map_deinit(&storing.frames);
	u64map_deinit(&storing.points);
	return !storing.no_memory;
}
