/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decoder remembers damage and a lack of memory: from then on, numbers are 0 and texts NULL.
 * Loops test it once for each item, and stored_names_decode() at the end.
 */
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

struct names_decoder {
	struct cursor cursor;
	struct { VEC(const char *); } texts;
	bool damaged, no_memory;
};

static bool failed(const struct names_decoder *decoder)
{
	return decoder->damaged || decoder->no_memory;
}

/* Reads a number of at most `most`. */
static uint64_t get_number(struct names_decoder *decoder, uint64_t most)
{
	uint64_t value = 0;
	if (failed(decoder) || !cursor_uleb(&decoder->cursor, &value) || value > most) {
		decoder->damaged = true;
		return 0;
	}
	return value;
}

static uint32_t get_u32(struct names_decoder *decoder)
{
	return (uint32_t)get_number(decoder, UINT32_MAX);
}

static bool get_flag(struct names_decoder *decoder)
{
	return get_number(decoder, 1);
}

static uint64_t get_signed(struct names_decoder *decoder)
{
	uint64_t value = get_number(decoder, UINT64_MAX);
	return value >> 1 ^ (uint64_t)-(int64_t)(value & 1);
}

/* Returns the next bytes; NULL: they do not fit. */
static const uint8_t *get_bytes(struct names_decoder *decoder, size_t size)
{
	const uint8_t *bytes = NULL;
	decoder->damaged |= !cursor_bytes(&decoder->cursor, size, &bytes);
	return bytes;
}

/* Reads a count of things that have at least `least` bytes each. */
static size_t get_count(struct names_decoder *decoder, size_t least)
{
	size_t count = get_number(decoder, cursor_left(&decoder->cursor) / least);
	decoder->damaged |= count >= UINT32_MAX;
	return count;
}

/* Reads a count, and makes room for that many items. */
#define get_room(decoder, least, vec)                                                              \
	({                                                                                         \
		size_t count_ = get_count((decoder), (least));                                     \
		(decoder)->no_memory |= !vec_reserve((vec), count_);                               \
		failed(decoder) ? 0 : count_;                                                      \
	})

static const char *get_text(struct names_decoder *decoder)
{
	uint64_t index = get_number(decoder, decoder->texts.count);
	return index ? decoder->texts.items[index - 1] : NULL;
}

static const char *get_needed_text(struct names_decoder *decoder)
{
	const char *text = get_text(decoder);
	decoder->damaged |= !text;
	return text;
}

static void get_key(struct names_decoder *decoder, struct stored_key *key)
{
	key->kind = get_u32(decoder);
	key->path = get_needed_text(decoder);
	key->build_id_size = get_number(decoder, sizeof(key->build_id));
	const uint8_t *bytes = get_bytes(decoder, key->build_id_size);
	if (bytes)
		memcpy(key->build_id, bytes, key->build_id_size);
	key->maj = get_u32(decoder);
	key->min = get_u32(decoder);
	key->ino = get_number(decoder, UINT64_MAX);
	key->pid = get_u32(decoder);
}

static void get_problem(struct names_decoder *decoder, struct stored_problem *problem)
{
	problem->problem = get_u32(decoder);
	problem->text = get_text(decoder);
	problem->remedy = get_text(decoder);
}

static void get_symbols(struct names_decoder *decoder, struct stored_module *module)
{
	uint64_t start = 0;
	for (size_t left = get_room(decoder, SYMBOL_LEAST, &module->symbols);
	     left && !failed(decoder); left--) {
		struct stored_symbol *symbol = &module->symbols.items[module->symbols.count++];
		start += get_signed(decoder);
		*symbol = (struct stored_symbol){.start = start};
		symbol->size = get_number(decoder, UINT64_MAX);
		symbol->name = get_needed_text(decoder);
		uint64_t flags = get_number(decoder, 3);
		symbol->mangled = flags & 1;
		symbol->from_cfi = flags & 2;
	}
}

static void get_frames(struct names_decoder *decoder, struct stored_module *module)
{
	for (size_t left = get_room(decoder, FRAME_LEAST, &module->frames);
	     left && !failed(decoder); left--) {
		size_t index = module->frames.count++;
		struct stored_frame *frame = &module->frames.items[index];
		*frame = (struct stored_frame){.name = get_text(decoder)};
		frame->mangled = get_flag(decoder);
		frame->file = get_text(decoder);
		frame->line = get_u32(decoder);
		frame->caller = get_number(decoder, index);
		frame->start = get_number(decoder, UINT64_MAX) - 1;
		/* Cuts the callers if there are too many. */
		if (frame->caller)
			frame->depth = module->frames.items[frame->caller - 1].depth + 1;
		if (frame->depth > DEPTH_MAX)
			frame->caller = frame->depth = 0;
	}
}

static void get_points(struct names_decoder *decoder, struct stored_module *module)
{
	uint64_t offset = 0;
	for (size_t left = get_room(decoder, POINT_LEAST, &module->points);
	     left && !failed(decoder); left--) {
		struct stored_point *point = &module->points.items[module->points.count++];
		uint64_t before = offset;
		offset += get_number(decoder, UINT64_MAX);
		*point = (struct stored_point){.offset = offset};
		point->symbol = get_number(decoder, module->symbols.count);
		point->frame = get_number(decoder, module->frames.count);
		point->has_vaddr = get_flag(decoder);
		point->vaddr = offset + (point->has_vaddr ? get_signed(decoder) : 0);
		/* Only the first may be at the start, and none at or before the one before it. */
		decoder->damaged |= module->points.count > 1 && offset <= before;
	}
}

static void get_codes(struct names_decoder *decoder, struct stored_module *module)
{
	uint64_t offset = 0;
	for (size_t left = get_room(decoder, CODE_LEAST, &module->codes);
	     left && !failed(decoder); left--) {
		struct stored_code *code = &module->codes.items[module->codes.count++];
		uint64_t step = get_number(decoder, UINT64_MAX);
		decoder->damaged |= __builtin_add_overflow(offset, step, &offset);
		code->offset = offset;
		code->size = get_u32(decoder);
		code->bytes = get_bytes(decoder, code->size);
	}
}

static void get_module(struct names_decoder *decoder, struct stored_module *module)
{
	get_key(decoder, &module->key);
	get_problem(decoder, &module->symbols_problem);
	get_problem(decoder, &module->lines_problem);
	module->has_lines = get_flag(decoder);
	module->machine = get_number(decoder, UINT16_MAX);
	module->file = get_u32(decoder);
	get_symbols(decoder, module);
	get_frames(decoder, module);
	get_points(decoder, module);
	get_codes(decoder, module);
	if (cursor_left(&decoder->cursor))
		module->left_out = get_number(decoder, UINT64_MAX);
	if (!cursor_left(&decoder->cursor))
		return;
	vec_each (symbol, &module->symbols)
		symbol->object = get_text(decoder);
	vec_each (frame, &module->frames)
		frame->declared = get_u32(decoder);
}

static void get_texts(struct names_decoder *decoder)
{
	for (size_t left = get_room(decoder, TEXT_LEAST, &decoder->texts); left; left--) {
		const char **text = &decoder->texts.items[decoder->texts.count++];
		if (!cursor_text(&decoder->cursor, text)) {
			decoder->damaged = true;
			return;
		}
	}
}

static void get_modules(struct names_decoder *decoder, struct stored_names *names)
{
	struct cursor *cursor = &decoder->cursor;
	const uint8_t *end = cursor->end;
	for (size_t left = get_count(decoder, MODULE_LEAST); left && !failed(decoder); left--) {
		uint64_t size = get_number(decoder, UINT64_MAX);
		struct stored_module *module = vec_push(names);
		decoder->no_memory |= !module;
		decoder->damaged |= size > cursor_left(cursor);
		if (module)
			*module = (struct stored_module){0};
		if (failed(decoder))
			return;
		/* Later versions may have more after a module's last number. */
		const uint8_t *next = cursor->end = cursor->pos + size;
		get_module(decoder, module);
		cursor->pos = next;
		cursor->end = end;
		if (!failed(decoder))
			decoder->no_memory = !stored_names_index(names);
	}
}

struct sp_error *stored_names_decode(uint8_t *data, size_t size, const char *path,
				     struct stored_names *ret)
{
	struct names_decoder decoder = {.cursor = cursor_make(data, size, false, path, 0)};
	*ret = (struct stored_names){.data = data};
	get_texts(&decoder);
	get_modules(&decoder, ret);
	vec_deinit(&decoder.texts);
	if (decoder.no_memory)
		return error_no_memory();
	if (decoder.damaged)
		return error_new(SP_ERROR_FORMAT, "%s: the stored names are damaged", path);
	return NULL;
}
