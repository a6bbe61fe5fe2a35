/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a traced process: an interpreter, threads, frames and code objects. The first byte is the
 * minor version; the second, times 8, the place of the runtime in the rest, which is the memory. The
 * rest is a location table, too.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "../unit/python_image.h"
#include "fuzz.h"
#include "python/code_object.h"
#include "python/python_stack.h"
#include "python/linetable.h"

#define THREAD_NUMBER 7

static void read_code(struct python_memory *memory, const struct python_runtime *runtime,
		      const struct python_frame *frame)
{
	struct python_code code;
	uint8_t *table;
	size_t size;
	uint64_t offset;
	if (!python_code_read_key(memory, runtime, frame->code, &code.key))
		return;
	if (python_code_read_names(memory, &runtime->layout, &code))
		assert(strlen(code.name) <= PYTHON_TEXT_MAX && *code.name && *code.file);
	assert(python_code_read_lines(memory, &runtime->layout, &code.key, &table, &size));
	assert(!table || size <= PYTHON_LINES_MAX);
	if (python_code_offset(&runtime->layout, frame->code, &code.key, frame->instr, &offset))
		(void)python_linetable_line(table, size, code.key.first_line, offset);
	free(table);
}

static void read_stack(struct python_memory *memory, const struct python_runtime *runtime)
{
	static struct python_stack stack;
	uint64_t thread = 0;
	if (!python_thread_find(memory, runtime, THREAD_NUMBER, &thread))
		return;
	python_stack_read(memory, &runtime->layout, thread, &stack);
	assert(stack.frame_count <= PYTHON_FRAMES_MAX && stack.group_count <= PYTHON_GROUPS_MAX);
	uint32_t frames = 0;
	for (uint32_t i = 0; i < stack.group_count; i++) {
		assert(stack.groups[i].first == frames);
		frames += stack.groups[i].count;
	}
	assert(frames == stack.frame_count);
	for (uint32_t i = 0; i < stack.frame_count && i < 16; i++)
		read_code(memory, runtime, &stack.frames[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct python_memory memory;
	if (size < 2)
		return 0;
	struct python_image image = {bytes + 2, size - 2, 0};
	struct python_runtime runtime = {
		.runtime = IMAGE_BASE + 8u * bytes[1],
		.code_type = IMAGE_BASE,
	};
	python_memory_reset(&memory);
	memory.read = python_image_read;
	memory.arg = &image;
	if (python_layout_make(&memory, UINT32_C(0x03000000) | (uint32_t)bytes[0] << 16, runtime.runtime,
			       &runtime.layout))
		read_stack(&memory, &runtime);
	assert(image.reads <= PYTHON_PAGES_MAX);
	for (uint64_t offset = 0; offset < 64; offset += 2)
		(void)python_linetable_line(bytes, size, 1, offset);
	return 0;
}
