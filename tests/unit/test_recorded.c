/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that the recording has itself (simpleperf's FILE and FILE2), where files are absent. */
#include <stdio.h>
#include <sprof/analysis.h>
#include "files.h"
#include "made_file.h"
#include "test.h"

#define START UINT64_C(0x7000000000)
#define PAGE_OFFSET 0x2000

static struct bytes bytes, payload;
static uint32_t prot; /* prot of the mapping; 0: it is in an MMAP */

static void put_mmap(const char *path)
{
	record_begin(&bytes, prot ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	put_u32(&bytes, 1);
	put_u32(&bytes, 1);
	put_u64(&bytes, START);
	put_u64(&bytes, 0x10000);
	put_u64(&bytes, PAGE_OFFSET);
	if (prot) {
		for (size_t i = 0; i < 3; i++)
			put_u64(&bytes, 0); /* device, inode and its generation */
		put_u32(&bytes, prot);
		put_u32(&bytes, 0);
	}
	put_text(&bytes, path);
	for (size_t i = 0; i < 2; i++)
		put_u64(&bytes, 0); /* sample_id: tid, time */
	record_end(&bytes);
}

/* The names of the rows, one behind the other, by weight: the order of samples is that. */
static const char *rows(unsigned int bit, bool children)
{
	static char text[256];
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_analysis *analysis;
	const enum sp_key keys[] = {SP_KEY_SYMBOL};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 1,
					      .children = children};
	const struct sp_files files = {.size = sizeof(files), .symfs = "/nonexistent"};
	const struct sp_analysis_options options = {.size = sizeof(options), .rows = &rows, .files = &files};
	made_end_data(&bytes);
	const struct made_feature feature = {bit, payload.at, payload.size};
	made_features(&bytes, &feature, 1);
	files_write(files_path("data"), bytes.at, bytes.size);
	ok_or_fail(sp_ctx_new(&ctx));
	ok_or_fail(sp_reader_open(ctx, files_path("data"), &reader));
	ok_or_fail(sp_analysis_run(ctx, reader, &options, &analysis));
	const struct sp_profile *profile = sp_analysis_profile(analysis, 0);
	text[0] = 0;
	for (size_t i = 0; i < profile->row_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 sp_profile_row(profile, i)->symbol);
	sp_analysis_free(analysis);
	sp_reader_free(reader);
	sp_ctx_free(ctx);
	return text;
}

static const char *symbols(unsigned int bit)
{
	made_begin(&bytes, payload.swap);
	put_mmap("/system/lib64/libone.so");
	/* Three in the first function, two in the second, one in none. */
	static const uint64_t at[] = {0x100, 0x104, 0x1ff, 0x200, 0x210, 0x900};
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		made_sample(&bytes, START + at[i]);
	return rows(bit, false);
}

static void put_name(const char *name)
{
	put(&payload, name, strlen(name) + 1);
}

/* simpleperf of Android 10 and before writes no file offset. */
static bool has_offset = true;
static uint64_t file_offset = PAGE_OFFSET;

/* Two functions, 0x100 and 0x200 above the file's lowest vaddr, which is at PAGE_OFFSET of it. */
static void put_file(const char *path, uint32_t type, uint64_t lowest, const char *first,
		     const char *second)
{
	size_t begin = payload.size;
	put_u32(&payload, 0);
	put_name(path);
	put_u32(&payload, type);
	put_u64(&payload, lowest);
	put_u32(&payload, 2);
	put_u64(&payload, lowest + 0x100);
	put_u32(&payload, 0x100);
	put_name(first);
	put_u64(&payload, lowest + 0x200);
	put_u32(&payload, 0x80);
	put_name(second);
	if (type == 3)
		put_u32(&payload, 0); /* offsets of DEX files */
	else if (has_offset)
		put_u64(&payload, file_offset);
	size_t end = payload.size;
	payload.size = begin;
	put_u32(&payload, (uint32_t)(end - begin - 4));
	payload.size = end;
}

static void put_plain(const char *path, uint32_t type, const char *first, const char *second)
{
	put_file(path, type, 0x5000, first, second);
}

TEST(the_symbols_of_feature_file)
{
	for (int swap = 0; swap < 2; swap++) {
		payload.swap = swap;
		payload.size = 0;
		put_plain("/system/lib64/libother.so", 2, "wrong", "wrong");
		put_plain("/system/lib64/libone.so", 2, "first", "_Z6secondv");
		ck_assert_pstr_eq(symbols(128), "first second 0x2900");
	}
}

/* Cut anywhere, it gives what it has, or addresses. */
TEST(a_feature_that_is_cut_short)
{
	payload.swap = false;
	payload.size = 0;
	put_plain("/system/lib64/libone.so", 2, "first", "second");
	for (size_t size = payload.size; size--;) {
		payload.size = size;
		ck_assert(strstr(symbols(128), "0x2900"));
	}
}

static void put_varint(struct bytes *to, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_u8(to, (uint8_t)(value | 0x80));
	put_u8(to, (uint8_t)value);
}

static void put_number(struct bytes *to, unsigned int field, uint64_t value)
{
	put_varint(to, field << 3);
	put_varint(to, value);
}

static void put_part(struct bytes *to, unsigned int field, const void *part, size_t size)
{
	put_varint(to, field << 3 | 2);
	put_varint(to, size);
	put(to, part, size);
}

static void put_symbol(struct bytes *to, uint64_t vaddr, uint64_t size, const char *name)
{
	static struct bytes symbol;
	symbol.size = 0;
	put_number(&symbol, 1, vaddr);
	put_number(&symbol, 2, size);
	put_part(&symbol, 3, name, strlen(name));
	put_part(to, 4, symbol.at, symbol.size);
}

TEST(the_symbols_of_feature_file2)
{
	static struct bytes message, part;
	payload.swap = false;
	payload.size = message.size = part.size = 0;
	put_part(&message, 1, "/system/lib64/libone.so", 23);
	put_number(&message, 2, 2);
	put_number(&message, 3, 0x5000);
	put_symbol(&message, 0x5100, 0x100, "first");
	put_symbol(&message, 0x5200, 0x80, "second");
	put_number(&part, 1, PAGE_OFFSET);
	put_part(&message, 6, part.at, part.size);
	put_u32(&payload, (uint32_t)message.size);
	put(&payload, message.at, message.size);
	ck_assert_pstr_eq(symbols(132), "first second 0x2900");
	for (size_t size = payload.size; size--;) {
		payload.size = size;
		symbols(132);
	}
}

TEST(files_without_known_addresses_have_no_symbols)
{
	payload.swap = false;
	payload.size = 0;
	put_plain("/system/lib64/libother.so", 2, "wrong", "wrong");
	ck_assert_ptr_null(strstr(symbols(128), "wrong"));
	/* A kernel module's symbols are at other addresses. */
	payload.size = 0;
	put_plain("/system/lib64/libone.so", 1, "wrong", "wrong");
	ck_assert_ptr_null(strstr(symbols(128), "wrong"));
}

TEST(without_its_offset_a_file_s_lowest_address_is_where_its_mapping_starts)
{
	payload.swap = has_offset = false;
	payload.size = 0;
	put_plain("/system/lib64/libone.so", 2, "first", "second");
	const char *shown = symbols(128);
	has_offset = true;
	ck_assert_pstr_eq(shown, "first second 0x2900");
}

/* simpleperf's PROT_JIT_SYMFILE_MAP: the symbols of JIT code have its run time addresses. */
TEST(jit_code_by_its_address)
{
	payload.swap = false;
	payload.size = 0;
	prot = 0x4000;
	file_offset = 0x40;
	put_file("/data/app_cache:0-80", 2, START, "first", "second");
	file_offset = PAGE_OFFSET;
	made_begin(&bytes, false);
	put_mmap("/data/app_cache:0-80");
	made_sample(&bytes, START + 0x100);
	made_sample(&bytes, START + 0x200);
	const char *shown = rows(128, false);
	prot = 0;
	ck_assert_pstr_eq(shown, "first second");
}

static void put_chain(const uint64_t *ips, size_t count)
{
	record_begin(&bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(&bytes, ips[0]);
	put_u32(&bytes, 1);
	put_u32(&bytes, 1);
	put_u64(&bytes, 1000);
	put_u64(&bytes, count + 1);
	put_u64(&bytes, (uint64_t)PERF_CONTEXT_USER);
	for (size_t i = 0; i < count; i++)
		put_u64(&bytes, ips[i]);
	record_end(&bytes);
}

/* Native callers are at the call, before the pc; an interpreter's pc is the instruction itself. */
TEST(callers_in_dex_files_are_at_their_pc)
{
	const uint64_t ips[] = {START + 0x110, START + 0x200};
	for (uint32_t type = 2; type <= 3; type++) {
		payload.swap = false;
		payload.size = 0;
		/* Offsets of a DEX file are its addresses. */
		put_file("/system/lib64/libone.so", type, PAGE_OFFSET, "first", "second");
		made_begin(&bytes, false);
		made_sample_type(&bytes, PERF_SAMPLE_CALLCHAIN);
		put_mmap("/system/lib64/libone.so");
		put_chain(ips, 2);
		ck_assert_pstr_eq(rows(128, true), type == 3 ? "first second" : "first");
	}
}
