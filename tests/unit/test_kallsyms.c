/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/kallsyms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "root.h"

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)
#define KALLSYMS CLEANUP(cleanup_kallsyms_free) struct kallsyms

static struct kallsyms *parse(const char *text)
{
	struct kallsyms *kallsyms;
	ok_or_fail(kallsyms_parse(text, strlen(text), "kallsyms", &kallsyms));
	return kallsyms;
}

/* The name at an address, or "-". */
static const char *name_at(const struct kallsyms *kallsyms, uint64_t address)
{
	struct kallsyms_symbol symbol;
	return kallsyms_find(kallsyms, address, &symbol) ? symbol.name : "-";
}

static const char small[] = "0000000000000000 A fixed_percpu_data\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T _text\n"
			    "ffffffff81000100 t first\n"
			    "ffffffff81000180 r not_code\n"
			    "ffffffff81000200 W weak\n"
			    "ffffffff81001000 D data\n"
			    "ffffffffc0203000 t late\t[snd]\n"
			    "ffffffffc0100010 t bpf_prog_1234_x\t[bpf]\n"
			    "ffffffffc0100000 t early\t[usbcore]";

TEST(kallsyms_finds_by_address)
{
	KALLSYMS *kallsyms = parse(small);
	ck_assert(!kallsyms_hidden(kallsyms));
	ck_assert_uint_eq(kallsyms_count(kallsyms), 8);
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff80ffffff), "-");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff81000000), "_text");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff810000ff), "_text");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff810001ff), "first");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff81000fff), "weak");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff81001fff), "data");
}

TEST(kallsyms_symbol_ends_before_another_module)
{
	KALLSYMS *kallsyms = parse(small);
	/* Two pages at most where the next symbol is another module's, one from a page's start. */
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff81001fff), "data");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff81002000), "-");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffffc0100000), "early");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffffc0100010), "bpf_prog_1234_x");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffffc0101fff), "bpf_prog_1234_x");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffffc0102000), "-");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffffc0203fff), "late");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffffc0204000), "-");
	ck_assert_str_eq(name_at(kallsyms, UINT64_MAX), "-");
}

TEST(kallsyms_names_modules)
{
	KALLSYMS *kallsyms = parse(small);
	struct kallsyms_symbol symbol;
	ck_assert(kallsyms_find(kallsyms, 0xffffffffc0203000, &symbol));
	ck_assert_str_eq(symbol.module, "snd");
	ck_assert(kallsyms_find(kallsyms, 0xffffffffc0100010, &symbol));
	ck_assert_str_eq(symbol.module, "bpf");
	ck_assert(kallsyms_find(kallsyms, 0xffffffff81000200, &symbol));
	ck_assert_ptr_null(symbol.module);
	ck_assert_int_eq(symbol.type, 'W');
}

TEST(kallsyms_finds_kernel_symbols_by_name)
{
	KALLSYMS *kallsyms = parse(small);
	struct kallsyms_symbol symbol;
	ck_assert(kallsyms_find_name(kallsyms, "_stext", &symbol));
	ck_assert_uint_eq(symbol.address, 0xffffffff81000000);
	ck_assert_uint_eq(symbol.end, 0xffffffff81000100);
	ck_assert(!kallsyms_find_name(kallsyms, "late", &symbol));
}

TEST(kallsyms_says_hidden)
{
	KALLSYMS *kallsyms = parse("0000000000000000 T _text\n0000000000000000 t x\t[m]\n");
	ck_assert(kallsyms_hidden(kallsyms));
	ck_assert_str_eq(name_at(kallsyms, 0), "-");
	ck_assert_str_eq(name_at(kallsyms, 0xffffffff81000000), "-");
	KALLSYMS *empty = parse("");
	ck_assert(kallsyms_hidden(empty));
	ck_assert_uint_eq(kallsyms_count(empty), 0);
}

TEST(kallsyms_refuses_what_is_none)
{
	static const char *const bad[] = {
		"zzz T _text\n",
		"ffffffff81000000 T\n",
		"ffffffff81000000  T x\n",
		"ffffffff81000000 T x\t[m\n",
		"11112222333344445 T x\n",
		"ffffffff81000000 T x y\n",
		"ffffffff81000000 T x\nffff",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct kallsyms *kallsyms;
		fails_with(SP_ERROR_FORMAT,
			   kallsyms_parse(bad[i], strlen(bad[i]), NULL, &kallsyms));
	}
}

/* Many symbols of one address must not make a walk over all of them quadratic. */
TEST(kallsyms_walks_equal_addresses_fast)
{
	const size_t count = 300000;
	CLEANUP_FREE char *text = malloc(count * 32);
	size_t size = 0;
	for (size_t i = 0; i < count; i++)
		size += (size_t)sprintf(text + size, "ffff000000000000 t s%zu\n", i);
	KALLSYMS *kallsyms = NULL;
	ok_or_fail(kallsyms_parse(text, size, NULL, &kallsyms));
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += kallsyms_symbol(kallsyms, i).end - 0xffff000000000000;
	ck_assert_uint_eq(sum, count * 4096);
	ck_assert_str_eq(name_at(kallsyms, 0xffff000000000000), "s299999");
}

TEST(kallsyms_reference_is_text)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/proc/kallsyms", small);
	struct kernel_reference reference;
	ck_assert(kallsyms_reference(root.ctx, &reference));
	ck_assert_str_eq(reference.name, "_text");
	ck_assert_uint_eq(reference.address, 0xffffffff81000000);
	ck_assert_uint_eq(reference.stext, 0xffffffff81000000);
}

TEST(kallsyms_reference_may_be_stext)
{
	ROOT root;
	root_init(&root);
	root_put(&root, "/proc/kallsyms", "ffff800010080000 t _head\nffff800010081000 T _stext\n");
	struct kernel_reference reference;
	ck_assert(kallsyms_reference(root.ctx, &reference));
	ck_assert_str_eq(reference.name, "_stext");
	ck_assert_uint_eq(reference.address, 0xffff800010081000);
}

TEST(kallsyms_reference_hidden)
{
	ROOT root;
	root_init(&root);
	struct kernel_reference reference;
	ck_assert(!kallsyms_reference(root.ctx, &reference)); /* no such file */
	root_put(&root, "/proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T _text\n");
	ck_assert(!kallsyms_reference(root.ctx, &reference));
}

/* Each of the live kernel's symbols, against an independent reading of the file. */
TEST(kallsyms_agrees_with_the_live_file)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	ok_or_fail(sp_ctx_new(&ctx));
	KALLSYMS *kallsyms = NULL;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = kallsyms_read(ctx, NULL, &kallsyms);
	if (error || kallsyms_hidden(kallsyms))
		skip_test("kernel addresses are hidden");
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/kallsyms", "r");
	ck_assert_ptr_nonnull(file);
	char line[1024], name[512], type;
	uint64_t address, previous = 0;
	size_t checked = 0;
	while (fgets(line, sizeof(line), file)) {
		ck_assert_int_eq(sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name), 3);
		if (!strchr("tTwWdDbB", type))
			continue;
		struct kallsyms_symbol symbol;
		ck_assert_msg(kallsyms_find(kallsyms, address, &symbol), "%s", line);
		ck_assert_uint_eq(symbol.address, address);
		ck_assert_uint_gt(symbol.end, address);
		checked++;
	}
	ck_assert_uint_eq(checked, kallsyms_count(kallsyms));
	for (size_t i = 0; i < checked; i++) {
		address = kallsyms_symbol(kallsyms, i).address;
		ck_assert_uint_ge(address, previous);
		previous = address;
	}
	struct kernel_reference reference;
	struct kallsyms_symbol text;
	ck_assert(kallsyms_reference(ctx, &reference));
	ck_assert(kallsyms_find_name(kallsyms, reference.name, &text));
	ck_assert_uint_eq(text.address, reference.address);
}
