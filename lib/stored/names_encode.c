/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stored/stored_names.h"

#include <string.h>
#include "base/leb128.h"
#include "record/put.h"

/* Data under construction. After a lack of memory, further additions do nothing. */
struct encoder {
	struct put out;
	struct u64map index_of;      /* address of an interned text -> its index */
	struct { VEC(const char *); } texts;
};

static void put_number(struct encoder *encoder, uint64_t value)
{
	uint8_t bytes[ULEB_SIZE];
	put_bytes(&encoder->out, bytes, uleb_encode(value, bytes));
}

/* Writes a signed number with its sign in the lowest bit. */
static void put_signed(struct encoder *encoder, uint64_t value)
{
	put_number(encoder, value << 1 ^ (uint64_t)-(int64_t)(value >> 63));
}

/* Writes the index of a text, which is added if it is new. */
static void put_text(struct encoder *encoder, const char *text)
{
	bool added;
	if (!text) {
		put_number(encoder, 0);
		return;
	}
	const uint32_t *index = u64map_put(&encoder->index_of, (uintptr_t)text,
					   (uint32_t)encoder->texts.count + 1, &added);
	if (!index || (added && !vec_append(&encoder->texts, text)))
		encoder->out.no_memory = true;
	else
		put_number(encoder, *index);
}

static void put_problem(struct encoder *encoder, const struct stored_problem *problem)
{
	put_number(encoder, problem->problem);
	put_text(encoder, problem->text);
	put_text(encoder, problem->remedy);
}

DEFINE_ORDER(compare_points, struct stored_point, offset)

static void put_points(struct encoder *encoder, struct stored_module *module)
{
	uint64_t before = 0;
	vec_sort(&module->points, compare_points);
	put_number(encoder, module->points.count);
	vec_each (point, &module->points) {
		uint64_t distance = point->vaddr - point->offset;
		put_number(encoder, point->offset - before);
		put_number(encoder, point->symbol);
		put_number(encoder, point->frame);
		put_number(encoder, point->has_vaddr);
		if (point->has_vaddr)
			put_signed(encoder, distance);
		before = point->offset;
	}
}

static int compare_codes(const void *a, const void *b)
{
	const struct stored_code *x = a, *y = b;
	return u64_order(x->offset, y->offset) ?: u64_order(y->size, x->size);
}

/* Sorts a module's code, and removes what other code contains. */
static void tidy_codes(struct stored_module *module)
{
	struct stored_code *codes = module->codes.items;
	size_t kept = 0;
	uint64_t end = 0;
	vec_sort(&module->codes, compare_codes);
	for (size_t i = 0; i < module->codes.count; i++) {
		if (kept && codes[i].offset + codes[i].size <= end)
			continue;
		end = codes[i].offset + codes[i].size;
		codes[kept++] = codes[i];
	}
	module->codes.count = kept;
}

static void put_codes(struct encoder *encoder, struct stored_module *module)
{
	uint64_t before = 0;
	tidy_codes(module);
	put_number(encoder, module->codes.count);
	vec_each (code, &module->codes) {
		put_number(encoder, code->offset - before);
		put_number(encoder, code->size);
		put_bytes(&encoder->out, code->bytes, code->size);
		before = code->offset;
	}
}

static void put_module(struct encoder *encoder, struct stored_module *module)
{
	put_number(encoder, module->key.kind);
	put_text(encoder, module->key.path);
	put_number(encoder, module->key.build_id_size);
	put_bytes(&encoder->out, module->key.build_id, module->key.build_id_size);
	put_number(encoder, module->key.maj);
	put_number(encoder, module->key.min);
	put_number(encoder, module->key.ino);
	put_number(encoder, module->key.pid);
	put_problem(encoder, &module->symbols_problem);
	put_problem(encoder, &module->lines_problem);
	put_number(encoder, module->has_lines);
	put_number(encoder, module->machine);
	put_number(encoder, module->file);
	uint64_t before = 0;
	put_number(encoder, module->symbols.count);
	vec_each (symbol, &module->symbols) {
		put_signed(encoder, symbol->start - before);
		put_number(encoder, symbol->size);
		put_text(encoder, symbol->name);
		put_number(encoder, (symbol->mangled ? 1 : 0) | (symbol->from_cfi ? 2 : 0));
		before = symbol->start;
	}
	put_number(encoder, module->frames.count);
	vec_each (frame, &module->frames) {
		put_text(encoder, frame->name);
		put_number(encoder, frame->mangled);
		put_text(encoder, frame->file);
		put_number(encoder, frame->line);
		put_number(encoder, frame->caller);
		put_number(encoder, frame->start + 1);
	}
	put_points(encoder, module);
	put_codes(encoder, module);
	put_number(encoder, module->left_out);
	vec_each (item, &module->symbols)
		put_text(encoder, item->object);
	vec_each (item, &module->frames)
		put_number(encoder, item->declared);
}

struct sp_error *stored_names_encode(struct stored_names *names, struct record_buffer *ret)
{
	struct encoder encoder = {0};
	struct record_buffer modules = {0};

	/* Writes all modules to `modules`, each after its size, and collects their texts. */
	struct record_buffer one = {0};
	vec_each (name, names) {
		one.count = 0;
		encoder.out.buffer = &one;
		put_module(&encoder, name);
		encoder.out.buffer = &modules;
		put_number(&encoder, one.count);
		put_bytes(&encoder.out, one.items, one.count);
	}
	vec_deinit(&one);
	encoder.out.buffer = ret;
	put_number(&encoder, encoder.texts.count);
	vec_each (text, &encoder.texts)
		put_bytes(&encoder.out, *text, strlen(*text) + 1);
	put_number(&encoder, names->count);
	put_bytes(&encoder.out, modules.items, modules.count);
	vec_deinit(&modules);
	vec_deinit(&encoder.texts);
	u64map_deinit(&encoder.index_of);
	return encoder.out.no_memory ? error_no_memory() : NULL;
}
