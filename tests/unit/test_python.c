/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structures of CPython in made-up memory, and location tables that CPython made. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "capture/python/codes.h"
#include "capture/python/interpreter_files.h"
#include "capture/python/python_probe.h"
#include "made_ctx.h"
#include "python/code_object.h"
#include "python/python_stack.h"
#include "python/linetable.h"
#include "python_image.h"
#include "root.h"
#include "proc/proc_tasks.h"
#include "test.h"

/*
 * co_linetable and the lines by co_positions(), of CPython 3.11.2:
 *
 *	 4	x = (a +
 *	 5	     b)
 *	 6	try:
 *	 7		for i in range(10):
 *	10	except ValueError:
 *	15	return {k: v for k, v in zip([1], [x])}
 */
static const uint8_t table[] = {
	0x80, 0x00, 0xf0, 0x06, 0x00, 0x0a, 0x0b, 0xd8, 0x09, 0x0a, 0xf1, 0x03, 0x01, 0x0a, 0x0b, 0x80,
	0x41, 0xf0, 0x04, 0x05, 0x05, 0x0e, 0xdd, 0x11, 0x16, 0x90, 0x72, 0x91, 0x19, 0x94, 0x19, 0xf0,
	0x00, 0x02, 0x09, 0x1f, 0xf0, 0x00, 0x02, 0x09, 0x1f, 0x88, 0x41, 0xd8, 0x0c, 0x0d, 0x90, 0x11,
	0x89, 0x46, 0x88, 0x41, 0xd8, 0x0f, 0x10, 0x90, 0x31, 0x8a, 0x75, 0x88, 0x75, 0x90, 0x68, 0x88,
	0x75, 0xf0, 0x05, 0x02, 0x09, 0x1f, 0xf8, 0xf5, 0x06, 0x00, 0x0c, 0x16, 0xf0, 0x00, 0x01, 0x05,
	0x0e, 0xf0, 0x00, 0x01, 0x05, 0x0e, 0xf0, 0x00, 0x01, 0x05, 0x0e, 0xd8, 0x0c, 0x0d, 0x88, 0x01,
	0x88, 0x01, 0x88, 0x01, 0xf0, 0x03, 0x01, 0x05, 0x0e, 0xf8, 0xf8, 0xf8, 0xf0, 0x0a, 0x00, 0x0c,
	0x2c, 0xd0, 0x0b, 0x2b, 0x9d, 0x53, 0xa0, 0x21, 0xa0, 0x13, 0xa0, 0x71, 0xa0, 0x63, 0x99, 0x5d,
	0x9c, 0x5d, 0xd0, 0x0b, 0x2b, 0xd1, 0x0b, 0x2b, 0xd4, 0x0b, 0x2b, 0xd0, 0x04, 0x2b
};
static const uint16_t lines[] = {
	1, 4, 5, 4, 4, 4, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9,
	9, 9, 9, 9, 9, 7, 0, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11, 11, 11, 11, 10, 0, 0, 0, 15, 15,
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 15
};

TEST(lines_are_those_of_cpython)
{
	size_t count = sizeof(lines) / sizeof(*lines);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(python_linetable_line(table, sizeof(table), 1, 2 * i), lines[i]);
		ck_assert_uint_eq(python_linetable_line(table, sizeof(table), 3001, 2 * i),
				  lines[i] ? lines[i] + 3000u : 0);
	}
	ck_assert_uint_eq(python_linetable_line(table, sizeof(table), 1, 2 * count), 0);
	ck_assert_uint_eq(python_linetable_line(NULL, 0, 1, 0), 0);
}

TEST(a_damaged_line_table_has_no_lines)
{
	static const uint8_t endless[] = {0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};
	ck_assert_uint_eq(python_linetable_line(endless, sizeof(endless), 1, 0), 0);
	/* Line 1 - 2. */
	static const uint8_t negative[] = {0x80 | 13 << 3, 0x05};
	ck_assert_uint_eq(python_linetable_line(negative, sizeof(negative), 1, 0), 0);
}

#define SIZE 0x40000

/* Places in the image. */
#define RUNTIME 0x1000
#define INTERPRETER 0x2000
#define THREAD 0x5000
#define CODE_TYPE 0x6000
#define CODE 0x7000
#define NAME 0x8000
#define FILE_NAME 0x8100
#define LINES 0x8200
#define FRAMES 0x10000
#define C_STACK 0x30000

struct made {
	uint8_t *bytes;
	struct python_image image;
	struct python_memory *memory;
	struct python_runtime runtime;
};

static void put(struct made *made, uint64_t at, uint64_t value, size_t size)
{
	memcpy(made->bytes + at, &value, size);
}

static void put_address(struct made *made, uint64_t at, uint64_t to)
{
	put(made, at, to ? IMAGE_BASE + to : 0, 8);
}

static void make(struct made *made)
{
	made->bytes = calloc(1, SIZE);
	made->memory = calloc(1, sizeof(*made->memory));
	ck_assert(made->bytes && made->memory);
	made->image = (struct python_image){made->bytes, SIZE, 0};
	made->memory->read = python_image_read;
	made->memory->arg = &made->image;
	made->runtime.runtime = IMAGE_BASE + RUNTIME;
	made->runtime.code_type = IMAGE_BASE + CODE_TYPE;
}

static void make_free(struct made *made)
{
	free(made->bytes);
	free(made->memory);
}

/* A thread in the second place of its interpreter's list. */
static void put_thread(struct made *made, uint64_t number)
{
	const struct python_layout *layout = &made->runtime.layout;
	put_address(made, RUNTIME + layout->interpreters, INTERPRETER);
	put_address(made, INTERPRETER + layout->threads, THREAD + 0x800);
	put_address(made, THREAD + 0x800 + layout->thread_next, THREAD);
	put(made, THREAD + layout->thread_native_id, number, 8);
}

static void put_frame(struct made *made, uint64_t at, uint64_t previous, uint64_t instr)
{
	const struct python_layout *layout = &made->runtime.layout;
	put_address(made, at + layout->frame_code, CODE);
	put_address(made, at + layout->frame_previous, previous);
	put_address(made, at + layout->frame_instr, instr);
}

/* Makes memory of Python 3.11, and returns its layout. */
static const struct python_layout *make_3_11(struct made *made)
{
	make(made);
	ck_assert(python_layout_make(made->memory, 0x030b02f0, made->runtime.runtime,
				     &made->runtime.layout));
	return &made->runtime.layout;
}

TEST(frames_of_3_11_are_grouped_by_cframes)
{
	struct made made = {0};
	static struct python_stack stack;
	uint64_t thread = 0;
	const struct python_layout *layout = make_3_11(&made);
	put_thread(&made, 77);
	/* Two frames in the inner call, one in the outer, and the thread's own _PyCFrame. */
	put_frame(&made, FRAMES + 0x200, FRAMES + 0x100, 1);
	put_frame(&made, FRAMES + 0x100, FRAMES, 2);
	put_frame(&made, FRAMES, 0, 3);
	put(&made, FRAMES + 0x100 + layout->frame_is_entry, 1, 1);
	put(&made, FRAMES + layout->frame_is_entry, 1, 1);
	put_address(&made, THREAD + layout->thread_frame, C_STACK);
	put_address(&made, C_STACK + layout->cframe_frame, FRAMES + 0x200);
	put_address(&made, C_STACK + layout->cframe_previous, C_STACK + 0x100);
	put_address(&made, C_STACK + 0x100 + layout->cframe_frame, FRAMES);
	put_address(&made, C_STACK + 0x100 + layout->cframe_previous, C_STACK + 0x200);
	ck_assert(!python_thread_find(made.memory, &made.runtime, 78, &thread));
	ck_assert(python_thread_find(made.memory, &made.runtime, 77, &thread));
	ck_assert_uint_eq(thread, IMAGE_BASE + THREAD);
	python_stack_read(made.memory, layout, thread, &stack);
	ck_assert(!stack.truncated);
	ck_assert_uint_eq(stack.group_count, 3);
	ck_assert_uint_eq(stack.groups[0].place, IMAGE_BASE + C_STACK);
	ck_assert_uint_eq(stack.groups[0].count, 2);
	ck_assert_uint_eq(stack.groups[1].count, 1);
	ck_assert_uint_eq(stack.groups[2].count, 0);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_uint_eq(stack.frames[i].instr, IMAGE_BASE + i + 1);
	make_free(&made);
}

TEST(lists_of_threads_without_an_end_are_damaged)
{
	struct made made = {0};
	uint64_t thread = 0;
	const struct python_layout *layout = make_3_11(&made);
	put_thread(&made, 77);
	ck_assert(!python_thread_find(made.memory, &made.runtime, 78, &thread));
	ck_assert(!made.memory->damaged);
	put_address(&made, THREAD + layout->thread_next, THREAD);
	python_memory_reset(made.memory);
	ck_assert(!python_thread_find(made.memory, &made.runtime, 78, &thread));
	ck_assert(made.memory->damaged);
	/* The thread is still found, before the damage. */
	python_memory_reset(made.memory);
	ck_assert(python_thread_find(made.memory, &made.runtime, 77, &thread));
	ck_assert(!made.memory->damaged);
	put_address(&made, THREAD + layout->thread_next, SIZE);
	python_memory_reset(made.memory);
	ck_assert(!python_thread_find(made.memory, &made.runtime, 78, &thread));
	ck_assert(made.memory->damaged);
	python_memory_reset(made.memory);
	ck_assert(!made.memory->damaged);
	make_free(&made);
}

TEST(a_call_of_3_11_that_has_just_begun_has_no_frames)
{
	struct made made = {0};
	static struct python_stack stack;
	const struct python_layout *layout = make_3_11(&made);
	/* The inner _PyCFrame still has what was on the stack: the frame of a call before. */
	put_frame(&made, FRAMES + 0x100, FRAMES, 2);
	put_frame(&made, FRAMES, 0, 3);
	put(&made, FRAMES + layout->frame_is_entry, 1, 1);
	put_address(&made, THREAD + layout->thread_frame, C_STACK);
	put_address(&made, C_STACK + layout->cframe_frame, FRAMES + 0x100);
	put_address(&made, C_STACK + layout->cframe_previous, C_STACK + 0x100);
	put_address(&made, C_STACK + 0x100 + layout->cframe_frame, FRAMES);
	put_address(&made, C_STACK + 0x100 + layout->cframe_previous, C_STACK + 0x200);
	python_stack_read(made.memory, layout, IMAGE_BASE + THREAD, &stack);
	ck_assert(!stack.truncated);
	ck_assert_uint_eq(stack.group_count, 3);
	ck_assert_uint_eq(stack.groups[0].count, 0);
	ck_assert_uint_eq(stack.groups[1].count, 1);
	ck_assert_uint_eq(stack.groups[1].first, 0);
	ck_assert_uint_eq(stack.frames[0].instr, IMAGE_BASE + 3);
	make_free(&made);
}

/* Words of _Py_DebugOffsets, and offsets that no version has. */
struct stated {
	uint8_t word;
	uint16_t offset;
};
static const struct stated stated_313[] = {
	{5, 700}, {8, 24}, {9, 32}, {21, 16}, {23, 80}, {25, 168}, {29, 8}, {30, 0},
	{31, 56}, {33, 70}, {35, 112}, {37, 128}, {38, 136}, {39, 68}, {43, 200}, {0, 0},
};
static const struct stated stated_314[] = {
	{5, 700}, {8, 24}, {9, 32}, {24, 16}, {26, 80}, {28, 168}, {32, 8}, {33, 0},
	{34, 56}, {36, 70}, {40, 112}, {42, 128}, {43, 136}, {44, 68}, {48, 200}, {0, 0},
};

static void put_stated(struct made *made, const struct stated *stated)
{
	memcpy(made->bytes + RUNTIME, "xdebugpy", 8);
	for (; stated->word; stated++)
		put(made, RUNTIME + 8u * stated->word, stated->offset, 8);
}

static void check_entries(uint32_t version, const struct stated *stated)
{
	struct made made = {0};
	static struct python_stack stack;
	uint64_t thread = 0;
	make(&made);
	ck_assert(!python_layout_make(made.memory, version, made.runtime.runtime,
				      &made.runtime.layout));
	put_stated(&made, stated);
	python_memory_reset(made.memory);
	ck_assert(python_layout_make(made.memory, version, made.runtime.runtime,
				     &made.runtime.layout));
	const struct python_layout *layout = &made.runtime.layout;
	ck_assert_uint_eq(layout->interpreters, 700);
	ck_assert_uint_eq(layout->code_bytes, 200);
	put_thread(&made, 5);
	put_frame(&made, FRAMES, C_STACK, 1);
	put_frame(&made, C_STACK, 0, 0);
	put(&made, C_STACK + layout->frame_owner, 3, 1);
	/* A mark of 3.14. */
	made.bytes[FRAMES + layout->frame_code] |= 1;
	put_address(&made, THREAD + layout->thread_frame, FRAMES);
	python_memory_reset(made.memory);
	ck_assert(python_thread_find(made.memory, &made.runtime, 5, &thread));
	python_stack_read(made.memory, layout, thread, &stack);
	ck_assert(!stack.truncated);
	ck_assert_uint_eq(stack.group_count, 1);
	ck_assert_uint_eq(stack.groups[0].place, IMAGE_BASE + C_STACK);
	ck_assert_uint_eq(stack.groups[0].count, 1);
	ck_assert_uint_eq(stack.frames[0].code, IMAGE_BASE + CODE);
	make_free(&made);
}

TEST(frames_of_later_versions_are_grouped_by_entry_frames)
{
	check_entries(0x030d00f0, stated_313);
	check_entries(0x030e00f0, stated_314);
}

TEST(other_versions_and_free_threaded_builds_have_no_layout)
{
	struct made made = {0};
	make(&made);
	put_stated(&made, stated_313);
	put(&made, RUNTIME + 16, 1, 8);
	ck_assert(!python_layout_make(made.memory, 0x030d00f0, made.runtime.runtime,
				      &made.runtime.layout));
	ck_assert(!python_layout_make(made.memory, 0x030a00f0, made.runtime.runtime,
				      &made.runtime.layout));
	ck_assert(!python_layout_make(made.memory, 0x030f00f0, made.runtime.runtime,
				      &made.runtime.layout));
	make_free(&made);
}

TEST(a_circle_of_frames_ends)
{
	struct made made = {0};
	static struct python_stack stack;
	make(&made);
	ck_assert(python_layout_make(made.memory, 0x030b02f0, made.runtime.runtime,
				     &made.runtime.layout));
	put_frame(&made, FRAMES, FRAMES, 1);
	put_address(&made, THREAD + made.runtime.layout.thread_frame, C_STACK);
	put_address(&made, C_STACK + made.runtime.layout.cframe_frame, FRAMES);
	put_address(&made, C_STACK + made.runtime.layout.cframe_previous, C_STACK + 0x100);
	python_stack_read(made.memory, &made.runtime.layout, IMAGE_BASE + THREAD, &stack);
	ck_assert(stack.truncated);
	ck_assert_uint_eq(stack.frame_count, PYTHON_GROUP_FRAMES_MAX);
	ck_assert_uint_le(made.image.reads, 3);
	make_free(&made);
}

TEST(deep_groups_keep_both_ends)
{
	const uint32_t half = PYTHON_GROUP_FRAMES_MAX / 2;
	struct made made = {0};
	static struct python_stack stack;
	const struct python_layout *layout = make_3_11(&made);
	for (uint64_t i = 0; i < 1500; i++)
		put_frame(&made, FRAMES + 80 * i, FRAMES + 80 * (i + 1), i);
	put(&made, FRAMES + 80 * UINT64_C(1499) + layout->frame_is_entry, 1, 1);
	put_frame(&made, FRAMES + 80 * UINT64_C(1500), 0, 1500);
	put(&made, FRAMES + 80 * UINT64_C(1500) + layout->frame_is_entry, 1, 1);
	put_address(&made, THREAD + layout->thread_frame, C_STACK);
	put_address(&made, C_STACK + layout->cframe_frame, FRAMES);
	put_address(&made, C_STACK + layout->cframe_previous, C_STACK + 0x100);
	put_address(&made, C_STACK + 0x100 + layout->cframe_frame, FRAMES + 80 * UINT64_C(1500));
	put_address(&made, C_STACK + 0x100 + layout->cframe_previous, C_STACK + 0x200);
	python_stack_read(made.memory, layout, IMAGE_BASE + THREAD, &stack);
	ck_assert(!stack.truncated);
	ck_assert_uint_eq(stack.groups[0].count, PYTHON_GROUP_FRAMES_MAX);
	ck_assert_uint_eq(stack.frames[half - 1].instr, IMAGE_BASE + half - 1);
	ck_assert_uint_eq(stack.frames[half].frame, 0);
	for (uint32_t i = 1; i < half; i++)
		ck_assert_uint_eq(stack.frames[half + i].instr, IMAGE_BASE + 1500 - half + i);
	/* The next group is not affected. */
	ck_assert_uint_eq(stack.groups[1].count, 1);
	ck_assert_uint_eq(stack.frames[stack.groups[1].first].instr, IMAGE_BASE + 1500);
	make_free(&made);
}

/* A str of Latin-1 characters, or with `size` 2 of wider ones. */
static void put_text(struct made *made, uint64_t at, const uint16_t *text, size_t length, size_t size)
{
	const struct python_layout *layout = &made->runtime.layout;
	put(made, at + layout->text_length, length, 8);
	put(made, at + layout->text_state, size << 2 | 1 << 5, 4);
	for (size_t i = 0; i < length; i++)
		put(made, at + layout->text_other + i * size, text[i], size);
}

static void put_code(struct made *made)
{
	const struct python_layout *layout = &made->runtime.layout;
	put_address(made, CODE + 8, CODE_TYPE);
	put(made, CODE + layout->code_units, 4, 8);
	put(made, CODE + layout->code_first_line, 12, 4);
	put_address(made, CODE + layout->code_name, NAME);
	put_address(made, CODE + layout->code_file, FILE_NAME);
	put_address(made, CODE + layout->code_lines, LINES);
	put(made, LINES + layout->bytes_size, 3, 8);
	memcpy(made->bytes + LINES + layout->bytes_data, "\x80\x00\x41", 3);
}

TEST(a_code_object_has_name_file_and_lines)
{
	struct made made = {0};
	static const uint16_t name[] = {'f', 0xe9, 'r'}, file[] = {'x', 0x20ac, '.', 'p'};
	static struct python_code code;
	uint8_t *read_table;
	size_t size;
	uint64_t offset;
	make(&made);
	ck_assert(python_layout_make(made.memory, 0x030b02f0, made.runtime.runtime,
				     &made.runtime.layout));
	put_code(&made);
	put_text(&made, NAME, name, 3, 1);
	put_text(&made, FILE_NAME, file, 4, 2);
	ck_assert(python_code_read_key(made.memory, &made.runtime, IMAGE_BASE + CODE, &code.key));
	ck_assert(python_code_read_names(made.memory, &made.runtime.layout, &code));
	ck_assert_str_eq(code.name, "f\xc3\xa9r");
	ck_assert_str_eq(code.file, "x\xe2\x82\xac.p");
	ck_assert_uint_eq(code.key.first_line, 12);
	ck_assert(python_code_read_lines(made.memory, &made.runtime.layout, &code.key, &read_table,
					 &size));
	ck_assert_uint_eq(size, 3);
	ck_assert(!memcmp(read_table, "\x80\x00\x41", 3));
	free(read_table);
	uint64_t begin = IMAGE_BASE + CODE + made.runtime.layout.code_bytes;
	ck_assert(python_code_offset(&made.runtime.layout, IMAGE_BASE + CODE, &code.key, begin + 6,
				     &offset));
	ck_assert_uint_eq(offset, 6);
	ck_assert(python_code_offset(&made.runtime.layout, IMAGE_BASE + CODE, &code.key, begin - 2,
				     &offset));
	ck_assert_uint_eq(offset, 0);
	ck_assert(!python_code_offset(&made.runtime.layout, IMAGE_BASE + CODE, &code.key, begin + 8,
				      &offset));
	make_free(&made);
}

/* A program may compile functions with ever new names, of 1 KB each. */
TEST(names_of_functions_have_a_limit_of_bytes)
{
	enum { NAMES = 60000 };
	struct python_functions functions;
	char name[1025];
	uint64_t start, first = 0;
	size_t added = 0;
	python_functions_init(&functions);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%01024u", i);
		const struct python_function function = {.name = name, .file = "/a.py"};
		added += python_functions_add(&functions, &function, &start);
		first = i ? first : start;
	}
	ck_assert_uint_gt(added, 20000);
	ck_assert_uint_lt(added, NAMES);
	ck_assert_uint_lt(strtab_bytes(&functions.strings), (size_t)34 << 20);
	/* Known ones are still found. */
	snprintf(name, sizeof(name), "%01024u", 0);
	const struct python_function known = {.name = name, .file = "/a.py"};
	ck_assert(python_functions_add(&functions, &known, &start));
	ck_assert_uint_eq(start, first);
	python_functions_deinit(&functions);
}

/* Programs free code objects: another function may be at the same address. */
TEST(code_objects_are_read_again_after_a_while)
{
	struct made made = {0};
	static const uint16_t name[] = {'f'}, file[] = {'x'};
	struct python_codes codes = {0};
	struct python_functions functions;
	uint64_t first, same, other;
	make(&made);
	python_functions_init(&functions);
	ck_assert(python_layout_make(made.memory, 0x030b02f0, made.runtime.runtime,
				     &made.runtime.layout));
	put_code(&made);
	put_text(&made, NAME, name, 1, 1);
	put_text(&made, FILE_NAME, file, 1, 1);
	struct python_reader reader = {made.memory, &made.runtime, &functions, .time_ns = 1};
	uint64_t code = IMAGE_BASE + CODE, instr = code + made.runtime.layout.code_bytes;
	ck_assert(python_codes_find(&codes, &reader, code, instr, &first));
	ck_assert_uint_eq(python_line_of(first), 12);
	ck_assert_uint_eq(functions.list.count, 1);
	put(&made, CODE + made.runtime.layout.code_first_line, 99, 4);
	python_memory_reset(made.memory);
	reader.time_ns = 100000000;
	ck_assert(python_codes_find(&codes, &reader, code, instr, &same));
	ck_assert_uint_eq(same, first);
	reader.time_ns = 100000002;
	ck_assert(python_codes_find(&codes, &reader, code, instr, &other));
	ck_assert_uint_eq(python_line_of(other), 99);
	ck_assert_uint_eq(functions.list.count, 2);
	/* An object of another type than code. */
	ck_assert(!python_codes_find(&codes, &reader, IMAGE_BASE + NAME, instr, &other));
	python_codes_deinit(&codes);
	python_functions_deinit(&functions);
	make_free(&made);
}

TEST(a_probe_reads_the_memory_of_a_process)
{
	static struct python_stack empty;
	const struct python_process process = {.pid = (uint32_t)getpid()};
	uint8_t bytes[64] = {1, 2, 3}, copied[64];
	bool exact;
	memcpy(copied, bytes, sizeof(bytes));
	const struct stack_copy copy = {.bytes = copied, .low = (uintptr_t)bytes, .size = sizeof(bytes)};
	struct python_probe *probe = python_probe_new(made_ctx());
	ck_assert_ptr_nonnull(probe);
	python_probe_begin(probe, process.pid);
	ck_assert(python_probe_is_unchanged(probe, &copy));
	bytes[63] = 1;
	ck_assert(!python_probe_is_unchanged(probe, &copy));
	/* Its runtime is at address 0. */
	ck_assert(!python_probe_read(probe, &process, (uint32_t)getpid(), &copy, &exact));
	ck_assert(!memcmp(&probe->stack, &empty, sizeof(empty)));
	free(probe);
}

TEST(a_thread_has_the_number_of_its_innermost_namespace)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/proc/5/status", "Name:\tx\nNSpid:\t5\t3\t17\nThreads:\t1\n");
	root_put(&root, "/proc/6/status", "Name:\tx\n");
	ck_assert_uint_eq(tasks_inner_id(root.ctx, 5), 17);
	ck_assert_uint_eq(tasks_inner_id(root.ctx, 6), 6);
	ck_assert_uint_eq(tasks_inner_id(root.ctx, 7), 7);
}

TEST(no_code_object_is_made_of_other_memory)
{
	struct made made = {0};
	static const uint16_t half[] = {0xd800};
	static struct python_code code;
	make(&made);
	ck_assert(python_layout_make(made.memory, 0x030b02f0, made.runtime.runtime,
				     &made.runtime.layout));
	put_code(&made);
	put_text(&made, NAME, half, 1, 2);
	put_text(&made, FILE_NAME, (const uint16_t[]){'f'}, 1, 1);
	ck_assert(python_code_read_key(made.memory, &made.runtime, IMAGE_BASE + CODE, &code.key));
	ck_assert(!python_code_read_names(made.memory, &made.runtime.layout, &code));
	put_address(&made, CODE + 8, CODE_TYPE + 8);
	python_memory_reset(made.memory);
	ck_assert(!python_code_read_key(made.memory, &made.runtime, IMAGE_BASE + CODE, &code.key));
	ck_assert(!python_code_read_key(made.memory, &made.runtime, 8, &code.key));
	make_free(&made);
}

TEST(memory_is_read_page_by_page_and_bounded)
{
	struct made made = {0};
	uint8_t bytes[8];
	make(&made);
	put(&made, 4092, UINT64_C(0x1122334455667788), 8);
	uint64_t word;
	ck_assert(python_memory_word(made.memory, IMAGE_BASE + 4092, &word));
	ck_assert_uint_eq(word, UINT64_C(0x1122334455667788));
	ck_assert_uint_eq(made.image.reads, 2);
	ck_assert(!python_memory_get(made.memory, UINT64_MAX - 3, bytes, 8));
	ck_assert(!python_memory_get(made.memory, IMAGE_BASE + SIZE - 4, bytes, 8));
	for (uint64_t i = 0; i < 2 * PYTHON_PAGES_MAX; i++)
		(void)python_memory_get(made.memory, IMAGE_BASE + i * PYTHON_PAGE, bytes, 1);
	ck_assert_uint_le(made.image.reads, PYTHON_PAGES_MAX);
	make_free(&made);
}

/* A process of another user has the same memory as this one. */
static pid_t start_other_user(const struct sp_ctx *ctx)
{
	pid_t pid = fork();
	if (pid == 0) {
		if (setresuid(65534, 65534, 65534))
			_exit(1);
		for (;;)
			pause();
	}
	uint32_t uid = 0;
	for (int i = 0; i < 5000 && uid != 65534; i++) {
		usleep(1000);
		if (!tasks_owner(ctx, (uint32_t)pid, &uid))
			break;
	}
	return pid;
}

TEST(proxies_read_processes_of_other_users)
{
	static uint8_t bytes[3 * PYTHON_PAGE] = "stack";
	const struct stack_copy copy = {bytes, (uint64_t)(uintptr_t)bytes, 64};
	const uint64_t pages[] = {copy.low, copy.low + PYTHON_PAGE, copy.low + 2 * PYTHON_PAGE};
	const struct python_stack empty = {0};
	struct python_process process = {0};
	struct sp_ctx *ctx;
	uint64_t word = 1;
	bool exact = true;
	if (geteuid())
		skip_test("needs root");
	ok_or_fail(sp_ctx_new(&ctx));
	struct proxies *proxies = ctx_proxies(ctx);
	ok_or_fail(proxies_begin(proxies));
	pid_t pid = start_other_user(ctx);
	struct python_probe *probe = python_probe_new(ctx);
	python_probe_begin(probe, (uint32_t)getpid());
	ck_assert(python_probe_is_unchanged(probe, &copy));
	ck_assert_uint_eq(proxies_counts(proxies).calls, 0);
	process.pid = (uint32_t)pid;
	python_probe_begin(probe, process.pid);
	ck_assert(python_probe_is_unchanged(probe, &copy));
	ck_assert_uint_eq(proxies_counts(proxies).calls, 1);
	python_probe_prefetch(probe, pages, 3);
	ck_assert_uint_eq(proxies_counts(proxies).calls, 2);
	ck_assert(python_memory_word(&probe->memory, pages[2], &word));
	ck_assert_uint_eq(word, 0);
	ck_assert(python_memory_word(&probe->memory, pages[0], &word));
	ck_assert_int_eq(memcmp(&word, bytes, 5), 0);
	ck_assert_uint_eq(proxies_counts(proxies).calls, 2);
	ck_assert(!python_probe_read(probe, &process, process.pid, &copy, &exact));
	ck_assert(!memcmp(&probe->stack, &empty, sizeof(empty)));
	ck_assert_uint_eq(proxies_counts(proxies).calls, 3);
	bytes[0] = 'S';
	ck_assert(!python_probe_is_unchanged(probe, &copy));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert(!python_probe_is_unchanged(probe, &copy));
	free(probe);
	proxies_end(proxies);
	sp_ctx_free(ctx);
}
