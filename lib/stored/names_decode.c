/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stored/stored_names.h"

#include <string.h>
#include "base/leb128.h"

/* Smallest sizes in bytes of what a count counts. */
enum {
	TEXT_LEAST = 1,
	MODULE_LEAST = 19,
	SYMBOL_LEAST = 4,
	FRAME_LEAST = 6,
	POINT_LEAST = 4,
	CODE_LEAST = 2,
};

/* Largest depth of inlined calls. Each address that is shown costs as many frames. */
#define DEPTH_MAX 512

struct texts {
	VEC(const char *);
};

/* Reads a number of at most `most`. */
static bool get_number(struct cursor *cursor, uint64_t most, uint64_t *ret)
{
	uint64_t value;
	if (!cursor_uleb(cursor, &value) || value > most)
		return false;
	*ret = value;
	return true;
}

static bool get_u32(struct cursor *cursor, uint32_t *ret)
{
	uint64_t value;
	if (!get_number(cursor, UINT32_MAX, &value))
		return false;
	*ret = value;
	return true;
}

static bool get_flag(struct cursor *cursor, bool *ret)
{
	uint64_t value;
	if (!get_number(cursor, 1, &value))
		return false;
	*ret = value;
	return true;
}

static bool get_signed(struct cursor *cursor, uint64_t *ret)
{
	uint64_t value;
	if (!cursor_uleb(cursor, &value))
		return false;
	*ret = value >> 1 ^ (uint64_t)-(int64_t)(value & 1);
	return true;
}

/* Reads a count of things that have at least `least` bytes each. */
static bool get_count(struct cursor *cursor, size_t least, size_t *ret)
{
	uint64_t value;
	if (!get_number(cursor, cursor_left(cursor) / least, &value))
		return false;
	*ret = value;
	return value < UINT32_MAX;
}

/* Reads a count, and makes room for that many items. */
#define get_room(cursor, least, vec, ret, no_memory)                                               \
	(get_count((cursor), (least), (ret)) &&                                                    \
	 (vec_reserve((vec), *(ret)) || !(*(no_memory) = true)))

static bool get_text(struct cursor *cursor, const struct texts *texts, const char **ret)
{
	uint64_t index;
	if (!get_number(cursor, texts->count, &index))
		return false;
	*ret = index ? texts->items[index - 1] : NULL;
	return true;
}

static bool get_key(struct cursor *cursor, const struct texts *texts, struct stored_key *key)
{
	uint64_t size;
	const uint8_t *bytes;
	if (!get_u32(cursor, &key->kind) || !get_text(cursor, texts, &key->path) || !key->path ||
	    !get_number(cursor, sizeof(key->build_id), &size) ||
	    !cursor_bytes(cursor, size, &bytes))
		return false;
	memcpy(key->build_id, bytes, size);
	key->build_id_size = size;
	return get_u32(cursor, &key->maj) && get_u32(cursor, &key->min) &&
	       cursor_uleb(cursor, &key->ino) && get_u32(cursor, &key->pid);
}

static bool get_problem(struct cursor *cursor, const struct texts *texts,
			struct stored_problem *problem)
{
	return get_u32(cursor, &problem->problem) && get_text(cursor, texts, &problem->text) &&
	       get_text(cursor, texts, &problem->remedy);
}

static bool get_symbol(struct cursor *cursor, const struct texts *texts, uint64_t before,
		       struct stored_symbol *symbol)
{
	uint64_t distance, flags;
	if (!get_signed(cursor, &distance) || !cursor_uleb(cursor, &symbol->size) ||
	    !get_text(cursor, texts, &symbol->name) || !symbol->name ||
	    !get_number(cursor, 3, &flags))
		return false;
	symbol->object = NULL;
	symbol->start = before + distance;
	symbol->mangled = flags & 1;
	symbol->from_cfi = flags & 2;
	return true;
}

static bool get_symbols(struct cursor *cursor, const struct texts *texts,
			struct stored_module *module, bool *no_memory)
{
	size_t count;
	uint64_t before = 0;
	if (!get_room(cursor, SYMBOL_LEAST, &module->symbols, &count, no_memory))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct stored_symbol symbol;
		if (!get_symbol(cursor, texts, before, &symbol))
			return false;
		before = symbol.start;
		module->symbols.items[module->symbols.count++] = symbol;
	}
	return true;
}

static bool get_frame(struct cursor *cursor, const struct texts *texts, size_t index,
		      struct stored_frame *frame)
{
	uint64_t caller, start;
	if (!get_text(cursor, texts, &frame->name) || !get_flag(cursor, &frame->mangled) ||
	    !get_text(cursor, texts, &frame->file) || !get_u32(cursor, &frame->line) ||
	    !get_number(cursor, index, &caller) || !cursor_uleb(cursor, &start))
		return false;
	frame->caller = caller;
	frame->start = start - 1;
	frame->declared = 0;
	return true;
}

/* Sets the depth of the last frame, and cuts its callers if there are too many. */
static void limit_depth(struct stored_module *module)
{
	struct stored_frame *frame = vec_last(&module->frames);
	frame->depth = frame->caller ? module->frames.items[frame->caller - 1].depth + 1 : 0;
	if (frame->depth > DEPTH_MAX)
		frame->caller = frame->depth = 0;
}

static bool get_frames(struct cursor *cursor, const struct texts *texts,
		       struct stored_module *module, bool *no_memory)
{
	size_t count;
	if (!get_room(cursor, FRAME_LEAST, &module->frames, &count, no_memory))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct stored_frame frame;
		if (!get_frame(cursor, texts, i, &frame))
			return false;
		module->frames.items[module->frames.count++] = frame;
		limit_depth(module);
	}
	return true;
}

static bool get_point(struct cursor *cursor, const struct stored_module *module, uint64_t before,
		      struct stored_point *point)
{
	uint64_t step, symbol, frame, distance = 0;
	bool has_vaddr;
	if (!cursor_uleb(cursor, &step) ||
	    !get_number(cursor, module->symbols.count, &symbol) ||
	    !get_number(cursor, module->frames.count, &frame) || !get_flag(cursor, &has_vaddr) ||
	    (has_vaddr && !get_signed(cursor, &distance)))
		return false;
	*point = (struct stored_point){
		.offset = before + step,
		.vaddr = before + step + distance,
		.symbol = symbol,
		.frame = frame,
		.has_vaddr = has_vaddr,
	};
	/* Only the first may be at the start, and none at or before the one before it. */
	return !module->points.count || point->offset > before;
}

static bool get_points(struct cursor *cursor, struct stored_module *module, bool *no_memory)
{
	size_t count;
	uint64_t before = 0;
	if (!get_room(cursor, POINT_LEAST, &module->points, &count, no_memory))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct stored_point point;
		if (!get_point(cursor, module, before, &point))
			return false;
		before = point.offset;
		module->points.items[module->points.count++] = point;
	}
	return true;
}

static bool get_codes(struct cursor *cursor, struct stored_module *module, bool *no_memory)
{
	size_t count;
	uint64_t before = 0;
	if (!get_room(cursor, CODE_LEAST, &module->codes, &count, no_memory))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct stored_code code;
		uint64_t step;
		if (!cursor_uleb(cursor, &step) || !get_u32(cursor, &code.size) ||
		    !cursor_bytes(cursor, code.size, &code.bytes) || before + step < before)
			return false;
		before += step;
		code.offset = before;
		module->codes.items[module->codes.count++] = code;
	}
	return true;
}

static bool get_origins(struct cursor *cursor, const struct texts *texts,
			struct stored_module *module)
{
	vec_each (symbol, &module->symbols)
		if (!get_text(cursor, texts, &symbol->object))
			return false;
	vec_each (frame, &module->frames)
		if (!get_u32(cursor, &frame->declared))
			return false;
	return true;
}

static bool get_module(struct cursor *cursor, const struct texts *texts,
		       struct stored_module *module, bool *no_memory)
{
	uint64_t machine;
	if (!get_key(cursor, texts, &module->key) ||
	    !get_problem(cursor, texts, &module->symbols_problem) ||
	    !get_problem(cursor, texts, &module->lines_problem) ||
	    !get_flag(cursor, &module->has_lines) || !get_number(cursor, UINT16_MAX, &machine) ||
	    !get_u32(cursor, &module->file))
		return false;
	module->machine = machine;
	return get_symbols(cursor, texts, module, no_memory) &&
	       get_frames(cursor, texts, module, no_memory) &&
	       get_points(cursor, module, no_memory) && get_codes(cursor, module, no_memory) &&
	       (!cursor_left(cursor) || cursor_uleb(cursor, &module->left_out)) &&
	       (!cursor_left(cursor) || get_origins(cursor, texts, module));
}

static bool get_texts(struct cursor *cursor, struct texts *texts, bool *no_memory)
{
	size_t count;
	if (!get_count(cursor, TEXT_LEAST, &count))
		return false;
	if (!vec_reserve(texts, count)) {
		*no_memory = true;
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		size_t left = cursor_left(cursor);
		const uint8_t *nul = left ? memchr(cursor->pos, 0, left) : NULL;
		const char *text;
		if (!nul || !cursor_string(cursor, (size_t)(nul - cursor->pos) + 1, &text))
			return false;
		texts->items[texts->count++] = text;
	}
	return true;
}

static bool get_modules(struct cursor *cursor, const struct texts *texts,
			struct stored_names *names, bool *no_memory)
{
	size_t count;
	if (!get_count(cursor, MODULE_LEAST, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t size;
		const uint8_t *bytes;
		if (!cursor_uleb(cursor, &size) || size > cursor_left(cursor) ||
		    !cursor_bytes(cursor, size, &bytes))
			return false;
		struct stored_module *module = vec_push(names);
		if (!module) {
			*no_memory = true;
			return false;
		}
		*module = (struct stored_module){0};
		struct cursor inner =
			cursor_make(bytes, size, false, cursor->path, bytes - cursor->begin);
		if (!get_module(&inner, texts, module, no_memory))
			return false;
		if (!stored_names_index(names)) {
			*no_memory = true;
			return false;
		}
	}
	return true;
}

struct sp_error *stored_names_decode(uint8_t *data, size_t size, const char *path,
				     struct stored_names *ret)
{
	struct cursor cursor = cursor_make(data, size, false, path, 0);
	struct texts texts = {0};
	bool no_memory = false;
	*ret = (struct stored_names){.data = data};
	bool good = get_texts(&cursor, &texts, &no_memory) &&
		    get_modules(&cursor, &texts, ret, &no_memory);
	vec_deinit(&texts);
	if (good)
		return NULL;
	return no_memory ? error_no_memory() :
			   error_new(SP_ERROR_FORMAT, "%s: the stored names are damaged", path);
}
