/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Go's function tables: an ELF file, which may have no sections. All functions, and the frames at some
 * addresses of each.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "go/frame_sizes.h"
#include "go/go_frames.h"

/* Limit of functions to look up, for large tables. */
#define FUNCTIONS_MAX 256

static size_t used; /* keeps reads of strings from being removed */

static void look_up(struct go_frames *frames, uint64_t vaddr)
{
	struct go_frame found[GO_FRAMES_MAX];
	size_t count = 0;
	sp_error_free(go_frames_find(frames, vaddr, found, &count));
	assert(count <= GO_FRAMES_MAX);
	for (size_t i = 0; i < count; i++)
		used += strlen(found[i].name) + (found[i].file ? strlen(found[i].file) : 0);
}

static void look_up_all(const struct image *image, const struct pclntab *table)
{
	struct go_frames frames;
	struct go_function function, found;
	struct sp_error *error = go_frames_open(image, table, &frames);
	sp_error_free(error);
	for (uint64_t i = 0; !error && i < table->count && i < FUNCTIONS_MAX; i++) {
		struct pc_values values;
		int32_t size;
		if (!pclntab_function(table, i, &function))
			continue;
		assert(function.end > function.start);
		uint64_t middle = function.start + (function.end - function.start) / 2;
		if (pclntab_find(table, middle, &found))
			assert(middle >= found.start && middle < found.end);
		if (pc_values_open(table, function.frame_sizes, &values))
			pc_values_find(&values, middle - function.start, &size);
		look_up(&frames, function.start);
		look_up(&frames, middle);
		look_up(&frames, function.end - 1);
	}
	go_frames_close(&frames);
}

static void read_sizes(const struct pclntab *table)
{
	struct frame_sizes sizes;
	int32_t size;
	sp_error_free(frame_sizes_make(table, &sizes));
	assert(sizes.values.count <= table->bytes.size + 1);
	for (size_t i = 0; i < sizes.functions.count && i < FUNCTIONS_MAX; i++) {
		const struct frame_sizes_function *function = &sizes.functions.items[i];
		frame_sizes_at(&sizes, function, function->start, &size);
		frame_sizes_find(&sizes, function->start);
	}
	frame_sizes_deinit(&sizes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct image *image;
	struct pclntab table;
	uint8_t *copy = malloc(size + 1);
	memcpy(copy, bytes, size);
	struct sp_error *error = image_open_memory(copy, size, "fuzz", &image);
	if (error) {
		sp_error_free(error);
		return 0;
	}
	error = pclntab_read(image, &table);
	if (!error) {
		look_up_all(image, &table);
		read_sizes(&table);
	}
	sp_error_free(error);
	pclntab_deinit(&table);
	image_free(image);
	return 0;
}
