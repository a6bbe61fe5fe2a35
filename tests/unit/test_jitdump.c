/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "symbol/jitdump.h"

#define DUMP CLEANUP(cleanup_jitdump_free) struct jitdump

/* A dump in the making, in either byte order. */
struct made {
	uint8_t bytes[16384];
	size_t size, begin; /* size and start of the current record */
	bool swap;
};

static void put_u32(struct made *made, uint32_t value)
{
	value = made->swap ? __builtin_bswap32(value) : value;
	memcpy(made->bytes + made->size, &value, sizeof(value));
	made->size += sizeof(value);
}

static void put_u64(struct made *made, uint64_t value)
{
	value = made->swap ? __builtin_bswap64(value) : value;
	memcpy(made->bytes + made->size, &value, sizeof(value));
	made->size += sizeof(value);
}

static void put_text(struct made *made, const char *text)
{
	strcpy((char *)made->bytes + made->size, text);
	made->size += strlen(text) + 1;
}

static void put_header(struct made *made, uint64_t time, uint64_t flags)
{
	put_u32(made, 0x4a695444);
	put_u32(made, 1);
	put_u32(made, 48);
	put_u32(made, 62);
	put_u32(made, 0xdeadbeef);
	put_u32(made, 4711);
	put_u64(made, time);
	put_u64(made, flags);
	put_u64(made, 0); /* a header may be longer */
}

static void begin(struct made *made, uint32_t id, uint64_t time)
{
	made->begin = made->size;
	put_u32(made, id);
	put_u32(made, 0);
	put_u64(made, time);
}

static void end(struct made *made)
{
	size_t size = made->size;
	made->size = made->begin + 4;
	put_u32(made, (uint32_t)(size - made->begin));
	made->size = size;
}

static void put_load(struct made *made, uint64_t time, uint64_t start, uint64_t size,
		     uint64_t index, const char *name)
{
	begin(made, 0, time);
	put_u32(made, 4711);
	put_u32(made, 4712);
	put_u64(made, start);
	put_u64(made, start);
	put_u64(made, size);
	put_u64(made, index);
	put_text(made, name);
	memset(made->bytes + made->size, 0x90, size);
	made->size += size;
	end(made);
}

static void put_move(struct made *made, uint64_t time, uint64_t to, uint64_t size, uint64_t index)
{
	begin(made, 1, time);
	put_u32(made, 4711);
	put_u32(made, 4712);
	put_u64(made, to);
	put_u64(made, 0);
	put_u64(made, to);
	put_u64(made, size);
	put_u64(made, index);
	end(made);
}

static void put_line(struct made *made, uint64_t address, uint32_t line, const char *file)
{
	put_u64(made, address);
	put_u32(made, line);
	put_u32(made, 0);
	put_text(made, file);
}

static void begin_lines(struct made *made, uint64_t start, uint64_t count)
{
	begin(made, 2, 1);
	put_u64(made, start);
	put_u64(made, count);
}

static struct sp_error *read_made(const struct made *made, size_t size, struct jitdump **ret)
{
	CLEANUP_CLOSE int fd = memfd_create("made", MFD_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, made->bytes, size, 0), (ssize_t)size);
	return jitdump_read(fd, "jit-4711.dump", UINT64_MAX, ret);
}

static const struct jitdump_code *code_or_fail(const struct jitdump *dump, size_t index,
					       uint64_t start, const char *name)
{
	ck_assert_uint_lt(index, dump->codes.count);
	const struct jitdump_code *code = &dump->codes.items[index];
	ck_assert_uint_eq(code->start, start);
	ck_assert_str_eq(code->name, name);
	return code;
}

static void lies_at(const struct jitdump *dump, size_t index, uint64_t time, uint64_t start,
		    const char *name)
{
	ck_assert_uint_lt(index, dump->places.count);
	const struct jitdump_place *place = &dump->places.items[index];
	ck_assert_uint_eq(place->time, time);
	ck_assert_uint_eq(place->start, start);
	ck_assert_str_eq(jitdump_find(dump, place->file_offset)->name, name);
	ck_assert_str_eq(jitdump_find(dump, place->file_offset + place->size - 1)->name, name);
}

static void line_is(const struct jitdump *dump, const struct jitdump_code *code, uint64_t offset,
		    const char *file, uint32_t number)
{
	const struct jitdump_line *line = jitdump_line_at(dump, code, code->file_offset + offset);
	ck_assert_int_eq(line != NULL, file != NULL);
	if (file) {
		ck_assert_str_eq(line->file, file);
		ck_assert_uint_eq(line->line, number);
	}
}

/* All kinds of records; what is read of them is the same in both byte orders. */
static void read_all(bool swap)
{
	DUMP *dump = NULL;
	struct made made = {.swap = swap};
	put_header(&made, 900, 0);
	begin_lines(&made, 0x1000, 3);
	put_line(&made, 0x1008, 12, "/a.js");
	put_line(&made, 0x1000, 10, "/b.js");
	put_line(&made, 0x1004, 11, "\xff");
	end(&made);
	begin_lines(&made, 0x2000, 1); /* lines of code that another thread loads later */
	put_line(&made, 0x2001, 7, "/c.js");
	end(&made);
	put_load(&made, 1000, 0x1000, 16, 0, "first");
	begin(&made, 4, 1001);
	for (int i = 0; i < 3; i++)
		put_u64(&made, 0);
	end(&made);
	put_load(&made, 2000, 0x2000, 32, 1, "second");
	put_load(&made, 3000, 0x1000, 16, 2, "third");
	put_move(&made, 4000, 0x3000, 32, 1);
	begin(&made, 99, 4001); /* a record type of a later version */
	end(&made);
	begin(&made, 3, 5000);
	end(&made);
	ok_or_fail(read_made(&made, made.size, &dump));
	ck_assert_uint_eq(dump->pid, 4711);
	ck_assert_uint_eq(dump->machine, 62);
	ck_assert_uint_eq(dump->codes.count, 3);
	ck_assert_uint_eq(dump->bad_records, 0);
	ck_assert_uint_eq(dump->cut_at, 0);
	lies_at(dump, 0, 1000, 0x1000, "first");
	lies_at(dump, 1, 2000, 0x2000, "second");
	lies_at(dump, 2, 3000, 0x1000, "third");
	lies_at(dump, 3, 4000, 0x3000, "second");
	ck_assert_uint_eq(dump->places.count, 4);
	const struct jitdump_code *first = code_or_fail(dump, 0, 0x1000, "first");
	line_is(dump, first, 0, "/b.js", 10);
	line_is(dump, first, 7, "/b.js", 11);
	line_is(dump, first, 15, "/a.js", 12);
	const struct jitdump_code *second = code_or_fail(dump, 1, 0x2000, "second");
	line_is(dump, second, 0, NULL, 0);
	line_is(dump, second, 31, "/c.js", 7);
	line_is(dump, code_or_fail(dump, 2, 0x1000, "third"), 0, NULL, 0);
	ck_assert_ptr_null(jitdump_find(dump, 0));
	ck_assert_ptr_null(jitdump_find(dump, first->file_offset + first->size));
}

TEST(jitdump_of_this_byte_order)
{
	read_all(false);
}

TEST(jitdump_of_the_other_byte_order)
{
	read_all(true);
}

/* Records are read up to the present end of the file. */
TEST(jitdump_that_grows)
{
	struct made made = {0};
	put_header(&made, 900, 0);
	size_t header = made.size;
	put_load(&made, 1000, 0x1000, 16, 0, "first");
	size_t first = made.size;
	put_load(&made, 2000, 0x2000, 16, 1, "second");
	for (size_t size = header; size <= made.size; size++) {
		DUMP *dump = NULL;
		ok_or_fail(read_made(&made, size, &dump));
		ck_assert_uint_eq(dump->codes.count,
				  (size_t)(size >= first) + (size_t)(size == made.size));
		bool whole = size == header || size == first || size == made.size;
		ck_assert_uint_eq(dump->cut_at, whole ? 0 : size < first ? header : first);
	}
	for (size_t size = 0; size < 40; size++) {
		DUMP *dump = NULL;
		fails_with(SP_ERROR_FORMAT, read_made(&made, size, &dump));
	}
}

TEST(jitdump_with_damage)
{
	DUMP *dump = NULL;
	struct made made = {0};
	put_header(&made, 900, 0);
	put_load(&made, 1000, 0x1000, 16, 0, "good");
	size_t at = made.size;
	put_load(&made, 1000, 0x2000, 16, 1, "larger than its record");
	made.size = at + 16 + 24;
	put_u64(&made, 4096);
	made.size = made.begin + 16 + 40 + sizeof("larger than its record") + 16;
	put_move(&made, 1000, 0x3000, 16, 77); /* an unknown function */
	begin_lines(&made, 0x4000, UINT64_MAX);
	put_line(&made, 0x4000, 1, "/a.js");
	end(&made);
	put_load(&made, 1000, 0x4000, 16, 2, "after");
	ok_or_fail(read_made(&made, made.size, &dump));
	ck_assert_uint_eq(dump->codes.count, 2);
	ck_assert_uint_eq(dump->bad_records, 3);
	line_is(dump, code_or_fail(dump, 1, 0x4000, "after"), 3, "/a.js", 1);
}

static void put_frames(struct made *made, uint64_t size, uint64_t header_size, size_t bytes)
{
	begin(made, 4, 1);
	put_u64(made, size);
	put_u64(made, header_size);
	put_u64(made, 80);
	memset(made->bytes + made->size, 0, bytes);
	made->size += bytes;
	end(made);
}

TEST(call_frame_information_belongs_to_the_next_code)
{
	DUMP *dump = NULL;
	struct made made = {0};
	put_header(&made, 0, 0);
	size_t at = made.size + 16 + 24;
	put_frames(&made, 68, 20, 72); /* with padding */
	put_load(&made, 1, 0x1000, 8, 0, "with");
	put_load(&made, 1, 0x2000, 8, 1, "without");
	put_frames(&made, 20, 20, 20);
	put_load(&made, 1, 0x3000, 8, 2, "empty");
	put_frames(&made, 68, 69, 72);
	put_load(&made, 1, 0x4000, 8, 3, "header too large");
	put_frames(&made, 73, 20, 72);
	put_load(&made, 1, 0x5000, 8, 4, "beyond the record");
	ok_or_fail(read_made(&made, made.size, &dump));
	ck_assert_uint_eq(dump->codes.count, 5);
	ck_assert_uint_eq(dump->codes.items[0].frames_offset, at);
	ck_assert_uint_eq(dump->codes.items[0].frames_size, 48);
	for (size_t i = 1; i < 5; i++)
		ck_assert_uint_eq(dump->codes.items[i].frames_size, 0);
	ck_assert_uint_eq(dump->bad_records, 2);
}

TEST(jitdump_that_is_none)
{
	DUMP *dump = NULL;
	struct made made = {0};
	put_header(&made, 0, 0);
	made.bytes[0] ^= 1;
	fails_with(SP_ERROR_FORMAT, read_made(&made, made.size, &dump));
	made.bytes[0] ^= 1;
	made.bytes[4] = 2; /* version */
	fails_with(SP_ERROR_FORMAT, read_made(&made, made.size, &dump));
	made.size = 0;
	put_header(&made, 0, 2);
	fails_with(SP_ERROR_FORMAT, read_made(&made, made.size, &dump));
	made.size = 0;
	put_header(&made, 0, 1);
	ok_or_fail(read_made(&made, made.size, &dump));
	ck_assert(dump->in_ticks);
}

/* V8's, which make up for where perf inject puts code. */
TEST(jitdump_with_shifted_lines)
{
	DUMP *dump = NULL;
	struct made made = {0};
	put_header(&made, 900, 0);
	begin_lines(&made, 0x1000, 2);
	put_line(&made, 0x1040 + 2, 10, "/a.js");
	put_line(&made, 0x1040 + 8, 11, "/a.js");
	end(&made);
	put_load(&made, 1000, 0x1000, 16, 0, "shifted");
	ok_or_fail(read_made(&made, made.size, &dump));
	const struct jitdump_code *code = code_or_fail(dump, 0, 0x1000, "shifted");
	line_is(dump, code, 1, NULL, 0);
	line_is(dump, code, 2, "/a.js", 10);
	line_is(dump, code, 15, "/a.js", 11);
}

/* The header's time is when the file was mapped, where it can be. */
TEST(jitdump_began)
{
	static const struct {
		uint64_t header, first, began;
	} cases[] = {
		{900, 1000, 900},
		{2000, 1000, 1000},
		{1000, 1700000000000000, 1700000000000000},
		{1700000000000000, 1000, 1000},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		DUMP *dump = NULL;
		struct made made = {0};
		put_header(&made, cases[i].header, 0);
		put_load(&made, cases[i].first, 0x1000, 16, 0, "code");
		put_load(&made, cases[i].first + 5, 0x2000, 16, 0, "more");
		ok_or_fail(read_made(&made, made.size, &dump));
		ck_assert_uint_eq(dump->began, cases[i].began);
	}
}
