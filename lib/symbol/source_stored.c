/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for names that the recording stores (stored/names.h). They are the claims of the recording's maker:
 * resolver.c prefers a file that is proven to be the recorded one, and knows as much.
 */
#include "symbol/source_stored.h"

#include <string.h>
#include "base/cleanup.h"
#include "symbol/demangle.h"
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

/*
 * Copies the cause of missing names from the stored names, but no remedy: it would be an untrusted
 * command to paste.
 */
static void copy_problem(const struct stored_problem *problem, struct diagnosis *diagnosis)
{
	diagnosis_clear(diagnosis);
	if (problem->problem > RESOLVER_OK && problem->problem <= RESOLVER_TOO_LARGE &&
	    problem->text)
		diagnosis_set(diagnosis, problem->problem, NULL, "%s (according to the recording)",
			      problem->text);
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	const struct stored_module *stored = source_stored_module(env, module);
	(void)pid;
	if (!stored)
		return NULL;
	if (stored->points.count || stored->symbols_problem.problem)
		copy_problem(&stored->symbols_problem, diagnosis);
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

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	const struct stored_module *module = ((struct opened_names *)opened)->module;
	const struct stored_point *point = stored_module_point(module, location->offset);
	(void)diagnosis;
	if (!point || !point->symbol)
		return false;
	const struct stored_symbol *symbol = &module->symbols.items[point->symbol - 1];
	*ret = (struct found){
		.key = point->symbol,
		.raw_name = symbol->name,
		.start = symbol->start,
		.size = symbol->size,
		.object = symbol->object,
		.mangled = symbol->mangled,
		.from_cfi = symbol->from_cfi,
	};
	return true;
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
			.number = (uint32_t)i,
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

/* Reads code from the longest stored bytes that begin there. */
static bool names_read_code(void *opened, uint64_t offset, uint64_t from, size_t size, uint8_t *ret,
			    uint16_t *machine_ret)
{
	const struct stored_module *module = ((struct opened_names *)opened)->module;
	size_t at = sorted_below(module->codes.items, module->codes.count, .offset, from);
	(void)offset;
	if (at == module->codes.count || module->codes.items[at].offset != from ||
	    module->codes.items[at].size < size)
		return false;
	memcpy(ret, module->codes.items[at].bytes, size);
	*machine_ret = module->machine;
	return true;
}

const struct source source_stored = {
	.name = "stored",
	.open = names_open,
	.find = names_find,
	.close = names_close,
	.vaddr = names_vaddr,
	.has_lines = names_have_lines,
	.frames = names_frames,
	.read_code = names_read_code,
};
