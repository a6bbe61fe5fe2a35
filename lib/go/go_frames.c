/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A function's table of calls has the index of the innermost inlined call at each address, or -1. The
 * inline tree has, by that index, the inlined function's name and an address that is at the call itself;
 * the next outer call is the one at that address. Go 1.18 and 1.19 have other members around those.
 */
#include "go/go_frames.h"

#include "base/hash.h"

#define BUDGET_MIN ((uint64_t)1 << 20)
/* Functions share equal tables of values, so that real programs read some bytes several times. */
#define BUDGET_PER_BYTE 16

/* Layout of a call in the inline tree. */
static const struct {
	uint8_t size, name, at, declared; /* declared 0: absent */
} call_layouts[] = {
	[PCLNTAB_1_18] = {20, 12, 16, 0},
	[PCLNTAB_1_20] = {16, 4, 8, 12},
};

struct sp_error *go_frames_open(const struct image *image, const struct pclntab *table,
				struct go_frames *ret)
{
	uint64_t file_offset, size;
	*ret = (struct go_frames){
		.table = table,
		.budget = BUDGET_MIN + BUDGET_PER_BYTE * table->bytes.size,
	};
	if (!table->trees || !image_range_at(image, table->trees, &file_offset, &size))
		return NULL;
	/* The trees are in .rodata, which the table follows. */
	if (table->vaddr > table->trees && table->vaddr - table->trees < size)
		size = table->vaddr - table->trees;
	return image_range_bytes(image, file_offset, size, &ret->trees);
}

void go_frames_close(struct go_frames *frames)
{
	image_bytes_release(&frames->trees);
	vec_deinit(&frames->files);
	vec_deinit(&frames->lines);
	vec_deinit(&frames->calls);
}

/* Reads a table of values. False when out of memory; the values end early when the budget is spent. */
static bool read_values(struct go_frames *frames, uint32_t offset, struct go_values *ret)
{
	struct pc_values values;
	ret->count = 0;
	if (!pc_values_open(frames->table, offset, &values))
		return true;
	for (; frames->budget && pc_values_next(&values); frames->budget--) {
		struct go_value *value = vec_push(ret);
		if (!value)
			return false;
		*value = (struct go_value){.to = values.to, .value = values.value};
	}
	return true;
}

/* Returns the value at a distance from the function's start; -1: none. */
static int32_t value_at(const struct go_values *values, uint64_t distance)
{
	size_t index = sorted_up_to(values->items, values->count, .to, distance);
	return index < values->count ? values->items[index].value : -1;
}

/* Makes the function at an address the current one. *found_ret: whether there is one. */
static bool select_function(struct go_frames *frames, uint64_t vaddr, bool *found_ret)
{
	struct go_function *function = &frames->function;
	*found_ret = true;
	if (vaddr >= function->start && vaddr < function->end)
		return true;
	*found_ret = pclntab_find(frames->table, vaddr, function);
	if (!*found_ret) {
		function->end = 0;
		return true;
	}
	return read_values(frames, function->files, &frames->files) &&
	       read_values(frames, function->lines, &frames->lines) &&
	       read_values(frames, function->calls, &frames->calls);
}

/*
 * Replaces the frame's function by that of an inlined call. *distance_ret: distance of the call
 * from the start of frames->function.
 */
static bool read_call(const struct go_frames *frames, int32_t index, struct go_frame *frame,
		      uint64_t *distance_ret)
{
	const struct pclntab *table = frames->table;
	uint8_t layout = table->layout;
	struct cursor cursor = cursor_make(frames->trees.bytes, frames->trees.size, table->swap,
					   NULL, 0);
	uint32_t name, distance, declared = 0;
	uint64_t at = frames->function.tree - table->trees +
		      (uint64_t)index * call_layouts[layout].size;
	if (at > frames->trees.size || frames->trees.size - at < call_layouts[layout].size)
		return false;
	cursor.pos += at + call_layouts[layout].name;
	if (!cursor_u32(&cursor, &name))
		return false;
	cursor.pos = cursor.begin + at + call_layouts[layout].at;
	const char *found = pclntab_name(table, name);
	if (!found || !cursor_u32(&cursor, &distance))
		return false;
	cursor.pos = cursor.begin + at + call_layouts[layout].declared;
	if (call_layouts[layout].declared && !cursor_u32(&cursor, &declared))
		return false;
	frame->name = found;
	frame->declared = declared;
	frame->start = UINT64_MAX;
	*distance_ret = distance;
	return true;
}

/*
 * Returns the frame of the function itself, with the line at `distance`. The inlined call
 * (-1: none) is only part of its key: read_call() then sets the call's function.
 */
static struct go_frame frame_at(const struct go_frames *frames, int32_t call, uint64_t distance)
{
	const struct go_function *function = &frames->function;
	int32_t line = value_at(&frames->lines, distance);
	return (struct go_frame){
		.name = function->name,
		.file = pclntab_file(frames->table, function, value_at(&frames->files, distance)),
		.start = function->start,
		.key = hash_pair(function->start, (uint32_t)call),
		.line = line > 0 ? (uint32_t)line : 0,
		.declared = function->declared,
	};
}

struct sp_error *go_frames_find(struct go_frames *frames, uint64_t vaddr,
				struct go_frame ret[GO_FRAMES_MAX], size_t *count_ret)
{
	bool found;
	*count_ret = 0;
	NEED(select_function(frames, vaddr, &found));
	if (!found)
		return NULL;
	const struct go_function *function = &frames->function;
	uint64_t distance = vaddr - function->start;
	size_t count = 0;
	while (count < GO_FRAMES_MAX) {
		int32_t call = function->tree ? value_at(&frames->calls, distance) : -1;
		struct go_frame *frame = &ret[count++];
		*frame = frame_at(frames, call, distance);
		if (call < 0 || !read_call(frames, call, frame, &distance))
			break;
	}
	*count_ret = count;
	return NULL;
}
