/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source for interpreted Python code; the recorder found its functions and lines
 * (record/python_record.h).
 */
#include "symbol/source.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "record/python_record.h"

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	(void)env, (void)pid, (void)diagnosis;
	if (module->kind != MODULE_PYTHON)
		return NULL;
	*ret = (void *)(uintptr_t)module;
	return NULL;
}

/* The offset is an address of record/python_record.h: a function and a line. */
static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	const struct python_function *function =
		module_python_function(opened, location->offset);
	(void)diagnosis;
	if (!function)
		return false;
	*ret = (struct found){
		.key = function->start,
		.raw_name = function->name,
		.start = function->start,
		.size = PYTHON_FUNCTION_SIZE,
	};
	return true;
}

static bool names_have_lines(void *opened, const struct source_env *env,
			     const struct module *module)
{
	(void)opened, (void)env, (void)module;
	return true;
}

/* Makes the frame of a place; NULL when out of memory. */
static const struct source_frame *make_frame(const struct python_function *function, uint32_t line,
					     uint32_t number, struct arena *arena)
{
	struct source_frame *frame = arena_alloc(arena, sizeof(*frame));
	if (frame)
		*frame = (struct source_frame){
			.name = function->name,
			.raw_name = function->name,
			.file = *function->file ? function->file : NULL,
			.start = function->start,
			.line = line,
			.number = number,
		};
	return frame;
}

static struct sp_error *names_frames(void *opened, const uint64_t *offsets, size_t count,
				     struct arena *arena, struct source_frames *ret)
{
	const struct source_frame *last = NULL;
	uint64_t last_start = 0;
	for (size_t i = 0; i < count; i++) {
		const struct python_function *function =
			module_python_function(opened, offsets[i]);
		uint32_t line = python_line_of(offsets[i]);
		if (!function)
			continue;
		/* Offsets ascend, so that equal functions and lines are adjacent. */
		if (!last || last_start != function->start || (ret->lines && last->line != line)) {
			last = make_frame(function, line, (uint32_t)ret->distinct++, arena);
			last_start = function->start;
		}
		NEED(last);
		ret->items[i] = last;
	}
	return NULL;
}

const struct source source_python = {
	.name = "python",
	.open = names_open,
	.find = names_find,
	.has_lines = names_have_lines,
	.frames = names_frames,
};
