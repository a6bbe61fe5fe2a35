/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "go/frame_sizes.h"

#include <string.h>

struct frame_sizes_builder {
	const struct pclntab *table;
	struct frame_sizes sizes;
	uint64_t left; /* bytes that may still be copied: functions may share tables, each is copied anew */
};

/* Appends a function's table of sizes, with its end. False when out of memory. */
static bool add_values(struct frame_sizes_builder *builder, uint32_t offset, uint32_t *ret)
{
	struct frame_sizes *sizes = &builder->sizes;
	struct pc_values values;
	if (!pc_values_open(builder->table, offset, &values))
		return true;
	const uint8_t *begin = values.cursor.pos;
	size_t size = 0;
	while (size < builder->left && pc_values_next(&values))
		size = values.cursor.pos - begin;
	if (size >= builder->left) {
		builder->left = 0;
		return true;
	}
	if (!vec_reserve(&sizes->values, sizes->values.count + size + 1))
		return false;
	*ret = sizes->values.count;
	memcpy(sizes->values.items + sizes->values.count, begin, size);
	sizes->values.items[sizes->values.count + size] = 0;
	sizes->values.count += size + 1;
	builder->left -= size + 1;
	return true;
}

static bool add_function(struct frame_sizes_builder *builder, const struct go_function *function)
{
	struct frame_sizes_function *added = vec_push(&builder->sizes.functions);
	if (!added)
		return false;
	*added = (struct frame_sizes_function){.start = function->start, .flags = function->flags};
	return add_values(builder, function->frame_sizes, &added->values);
}

static bool add_all(struct frame_sizes_builder *builder)
{
	const struct pclntab *table = builder->table;
	struct go_function function;
	uint64_t end = 0;
	/* Offset 0 is no table. */
	uint8_t *unused = vec_push(&builder->sizes.values);
	if (!unused || !vec_reserve(&builder->sizes.functions, table->count + 1))
		return false;
	*unused = 0;
	for (uint64_t i = 0; i < table->count; i++) {
		if (!pclntab_function(table, i, &function))
			continue;
		end = function.end;
		if (!add_function(builder, &function))
			return false;
	}
	function = (struct go_function){.start = end};
	return add_function(builder, &function);
}

struct sp_error *frame_sizes_make(const struct pclntab *table, struct frame_sizes *ret)
{
	struct frame_sizes_builder builder = {
		.table = table,
		.sizes = {.word = table->word, .quantum = table->quantum},
		.left = table->bytes.size,
	};
	*ret = (struct frame_sizes){0};
	if (!table->count)
		return NULL;
	if (!add_all(&builder)) {
		frame_sizes_deinit(&builder.sizes);
		return error_no_memory();
	}
	*ret = builder.sizes;
	return NULL;
}

void frame_sizes_deinit(struct frame_sizes *sizes)
{
	vec_deinit(&sizes->functions);
	vec_deinit(&sizes->values);
}

const struct frame_sizes_function *frame_sizes_find(const struct frame_sizes *sizes, uint64_t vaddr)
{
	size_t count = sizes->functions.count;
	size_t index = sorted_up_to(sizes->functions.items, count, .start, vaddr);
	return index > 0 && index < count ? &sizes->functions.items[index - 1] : NULL;
}

bool frame_sizes_at(const struct frame_sizes *sizes, const struct frame_sizes_function *function,
		    uint64_t vaddr, int32_t *ret)
{
	struct pc_values values = {
		.cursor = cursor_make(sizes->values.items, sizes->values.count, false, NULL, 0),
		.value = UINT32_MAX,
		.quantum = sizes->quantum,
	};
	values.cursor.pos += function->values;
	return function->values && pc_values_find(&values, vaddr - function->start, ret);
}
