/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "go/frame_sizes.h"
#include "go/go_frames.h"
#include "made_go.h"
#include "test.h"

#define GO CLEANUP(go_close) struct go

struct go {
	struct made_go made;
	struct image *image;
	struct pclntab table;
	struct go_frames frames;
};

static void go_close(struct go *go)
{
	go_frames_close(&go->frames);
	pclntab_deinit(&go->table);
	image_free(go->image);
}

static void go_open(struct go *go)
{
	ok_or_fail(made_go_open(&go->made, &go->image));
	ok_or_fail(pclntab_read(go->image, &go->table));
	ok_or_fail(go_frames_open(go->image, &go->table, &go->frames));
}

/* Opens program `i` of all layouts, sizes of words and byte orders. */
#define PROGRAMS 16
static void open_program(struct go *go, int i)
{
	go->made.layout = (enum pclntab_layout)(i % 4);
	go->made.word = i / 4 % 2 ? 4 : 8;
	go->made.bytes.swap = i / 8;
	go->made.machine = EM_X86_64;
	made_go_init(&go->made);
	go_open(go);
	ck_assert_uint_eq(go->table.layout, go->made.layout);
	ck_assert_uint_eq(go->table.count, MADE_GO_FUNCTIONS);
}

TEST(pclntab_has_functions)
{
	static const char *const names[] = {"main.leaf", "main.outer", "runtime.goexit",
					    "runtime.systemstack", "runtime.asyncPreempt",
					    "runtime.morestack", "runtime.morestack_noctxt",
					    "runtime.newstack"};
	for (int i = 0; i < PROGRAMS; i++) {
		GO go = {0};
		struct go_function function;
		open_program(&go, i);
		for (uint64_t j = 0; j < MADE_GO_FUNCTIONS; j++) {
			ck_assert(pclntab_function(&go.table, j, &function));
			ck_assert_str_eq(function.name, names[j]);
			ck_assert_uint_eq(function.start, MADE_GO_TEXT + made_starts[j]);
			ck_assert_uint_eq(function.end, MADE_GO_TEXT + made_starts[j + 1]);
			ck_assert_uint_eq(function.flags, j == 2   ? GO_TOP_FRAME
							 : j == 3 ? GO_SP_WRITE | GO_WAITED_FOR
							 : j == 4 ? GO_INJECTED
							 : j == 5 ? GO_SP_WRITE | GO_GROWS
							 : j == 6 ? GO_GROWS
								  : 0);
		}
		ck_assert(!pclntab_function(&go.table, MADE_GO_FUNCTIONS, &function));
	}
}

TEST(pclntab_finds_by_address)
{
	for (int i = 0; i < PROGRAMS; i++) {
		GO go = {0};
		struct go_function function;
		open_program(&go, i);
		ck_assert(!pclntab_find(&go.table, MADE_GO_TEXT - 1, &function));
		ck_assert(!pclntab_find(&go.table, MADE_GO_TEXT + MADE_GO_TEXT_SIZE, &function));
		ck_assert(pclntab_find(&go.table, MADE_GO_TEXT + 0x11f, &function));
		ck_assert_str_eq(function.name, "runtime.goexit");
		ck_assert(pclntab_find(&go.table, MADE_GO_TEXT + 0x40, &function));
		ck_assert_str_eq(function.name, "main.outer");
	}
}

static bool frame_size(const struct pclntab *table, const struct go_function *function,
		       uint64_t vaddr, int32_t *ret)
{
	struct pc_values values;
	return pc_values_open(table, function->frame_sizes, &values) &&
	       pc_values_find(&values, vaddr - function->start, ret);
}

TEST(pclntab_has_frame_sizes)
{
	for (int i = 0; i < PROGRAMS; i++) {
		GO go = {0};
		struct go_function leaf, outer;
		open_program(&go, i);
		ck_assert(pclntab_function(&go.table, 0, &leaf));
		ck_assert(pclntab_function(&go.table, 1, &outer));
		for (uint64_t at = 0; at < 0x40; at++) {
			int32_t size = -1;
			ck_assert(frame_size(&go.table, &leaf, leaf.start + at, &size));
			ck_assert_int_eq(size, at >= 4 && at < 0x3c ? 24 : 0);
		}
		int32_t size;
		ck_assert(!frame_size(&go.table, &leaf, leaf.end, &size));
		ck_assert(frame_size(&go.table, &outer, outer.end - 1, &size));
		ck_assert_int_eq(size, 2000);
	}
}

/* Fails unless the frames are these, as "NAME FILE:LINE …". */
static void expect_frames(struct go *go, uint64_t offset, const char *wanted)
{
	struct go_frame frames[GO_FRAMES_MAX];
	size_t count;
	char text[512] = "";
	ok_or_fail(go_frames_find(&go->frames, MADE_GO_TEXT + offset, frames, &count));
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, "%s%s %s:%u", i ? " " : "",
			 frames[i].name, frames[i].file ?: "?", frames[i].line);
		ck_assert_int_eq(frames[i].start != UINT64_MAX, i == count - 1);
	}
	ck_assert_str_eq(text, wanted);
}

TEST(frame_sizes_are_the_tables)
{
	for (int i = 0; i < PROGRAMS; i++) {
		GO go = {0};
		struct frame_sizes sizes;
		struct go_function function;
		open_program(&go, i);
		ok_or_fail(frame_sizes_make(&go.table, &sizes));
		for (uint64_t at = 0; at < MADE_GO_TEXT_SIZE; at++) {
			uint64_t vaddr = MADE_GO_TEXT + at;
			const struct frame_sizes_function *found = frame_sizes_find(&sizes, vaddr);
			int32_t wanted = -1, got = -1;
			ck_assert(pclntab_find(&go.table, vaddr, &function));
			ck_assert_ptr_nonnull(found);
			ck_assert_uint_eq(found->start, function.start);
			ck_assert_uint_eq(found[1].start, function.end);
			ck_assert_uint_eq(found->flags, function.flags);
			ck_assert_int_eq(frame_size(&go.table, &function, vaddr, &wanted),
					 frame_sizes_at(&sizes, found, vaddr, &got));
			ck_assert_int_eq(wanted, got);
		}
		ck_assert_ptr_null(frame_sizes_find(&sizes, MADE_GO_TEXT - 1));
		ck_assert_ptr_null(frame_sizes_find(&sizes, MADE_GO_TEXT + MADE_GO_TEXT_SIZE));
		frame_sizes_deinit(&sizes);
	}
}

TEST(frames_have_lines_and_inlined_calls)
{
	for (int i = 0; i < PROGRAMS; i++) {
		GO go = {0};
		open_program(&go, i);
		bool inlines = go.made.layout >= PCLNTAB_1_18;
		expect_frames(&go, 0x10, "main.leaf /src/a.go:10");
		expect_frames(&go, 0x40, "main.outer /src/a.go:20");
		expect_frames(&go, 0x50, inlines ? "main.middle /src/b.go:30 main.outer /src/a.go:20"
						 : "main.outer /src/b.go:30");
		expect_frames(&go, 0x6f, inlines ? "main.inner /src/b.go:40 main.middle /src/b.go:30 "
						   "main.outer /src/a.go:20"
						 : "main.outer /src/b.go:40");
		expect_frames(&go, 0x70, "main.outer /src/a.go:21");
		expect_frames(&go, 0x100, "runtime.goexit ?:0");
		expect_frames(&go, MADE_GO_TEXT_SIZE, "");
	}
}

TEST(functions_have_lines_of_declarations)
{
	for (int i = 0; i < PROGRAMS; i++) {
		GO go = {0};
		struct go_frame frames[GO_FRAMES_MAX];
		size_t count;
		open_program(&go, i);
		bool known = go.made.layout >= PCLNTAB_1_20;
		ok_or_fail(go_frames_find(&go.frames, MADE_GO_TEXT + 0x6f, frames, &count));
		ck_assert_uint_eq(frames[count - 1].declared, known ? 1 : 0);
		if (go.made.layout < PCLNTAB_1_18)
			continue;
		ck_assert_uint_eq(frames[0].declared, known ? 39 : 0);
		ck_assert_uint_eq(frames[1].declared, known ? 29 : 0);
	}
}

/* The tree's second call names itself as its caller. */
TEST(frames_of_an_endless_tree_end)
{
	for (int i = PCLNTAB_1_18; i <= PCLNTAB_1_20; i++) {
		GO go = {.made = {.layout = (enum pclntab_layout)i, .word = 8}};
		struct go_frame frames[GO_FRAMES_MAX];
		size_t count;
		made_go_init(&go.made);
		size_t size = go.made.bytes.size;
		go.made.bytes.size = go.made.text - (i == PCLNTAB_1_20 ? 8 : 4);
		put_u32(&go.made.bytes, 0x24);
		go.made.bytes.size = size;
		go_open(&go);
		ok_or_fail(go_frames_find(&go.frames, MADE_GO_TEXT + 0x60, frames, &count));
		ck_assert_uint_eq(count, GO_FRAMES_MAX);
	}
}

TEST(frames_stop_at_the_budget)
{
	GO go = {.made = {.layout = PCLNTAB_1_20, .word = 8}};
	made_go_init(&go.made);
	go_open(&go);
	go.frames.budget = 2;
	expect_frames(&go, 0x40, "main.outer /src/a.go:0");
}

TEST(pclntab_cut_anywhere_is_harmless)
{
	for (int i = 0; i < 4; i++) {
		GO whole = {0};
		open_program(&whole, i);
		for (size_t size = whole.made.table; size < whole.made.text; size += 3) {
			CLEANUP(cleanup_image_free) struct image *image = NULL;
			struct pclntab table;
			struct go_function function;
			struct made_go cut = whole.made;
			set_segments(&cut, size);
			ok_or_fail(made_go_open(&cut, &image));
			sp_error_free(pclntab_read(image, &table));
			for (uint64_t j = 0; j < table.count; j++)
				if (pclntab_function(&table, j, &function))
					ck_assert_uint_le(strlen(function.name), 24);
			pclntab_deinit(&table);
		}
	}
}

TEST(a_program_without_a_table_has_none)
{
	struct image *image;
	struct pclntab table;
	ok_or_fail(image_open("/proc/self/exe", &image));
	ok_or_fail(pclntab_read(image, &table));
	ck_assert_uint_eq(table.count, 0);
	image_free(image);
}
