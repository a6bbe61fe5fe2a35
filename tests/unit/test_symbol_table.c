/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Name of an address: perf's rules, case by case. */
#include "test.h"

#include <elf.h>
#include <string.h>
#include "symbol/symbol_table.h"

static void add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name,
		uint8_t binding, uint8_t type)
{
	ck_assert(table_add(table, start, size, name, binding, type));
}

static void seal(struct symbol_table *table)
{
	ok_or_fail(table_seal(table, TABLE_REACH_ANY));
}

static void expect(struct symbol_table *table, uint64_t address, const char *name)
{
	const struct table_symbol *symbol = table_find(table, address);
	ck_assert_msg(symbol != NULL || !name, "0x%lx: no symbol, %s expected", (long)address,
		      name);
	if (symbol)
		ck_assert_str_eq(symbol->name, name ? name : "(none)");
}

/* `winner` must win over `loser` at one address, in either order. */
static void prefer(struct table_symbol winner, struct table_symbol loser)
{
	for (int swap = 0; swap < 2; swap++) {
		struct symbol_table table = {0};
		const struct table_symbol *first = swap ? &loser : &winner;
		const struct table_symbol *second = swap ? &winner : &loser;
		add(&table, 100, first->end, first->name, first->binding, first->type);
		add(&table, 100, second->end, second->name, second->binding, second->type);
		add(&table, 0x1000, 16, "next", STB_GLOBAL, STT_FUNC);
		seal(&table);
		expect(&table, 105, winner.name);
		table_deinit(&table);
	}
}

TEST(table_finds_by_range)
{
	struct symbol_table table = {0};
	add(&table, 300, 50, "c", STB_GLOBAL, STT_FUNC);
	add(&table, 100, 50, "a", STB_GLOBAL, STT_FUNC);
	add(&table, 200, 100, "b", STB_LOCAL, STT_FUNC);
	seal(&table);
	expect(&table, 99, NULL);
	expect(&table, 100, "a");
	expect(&table, 149, "a");
	expect(&table, 150, NULL);
	expect(&table, 299, "b");
	expect(&table, 300, "c");
	expect(&table, 350, NULL);
	expect(&table, UINT64_MAX, NULL);
	table_deinit(&table);
}

TEST(table_empty_finds_nothing)
{
	struct symbol_table table = {0};
	seal(&table);
	expect(&table, 0, NULL);
	ck_assert(!table_at(&table, 0));
	table_deinit(&table);
}

TEST(table_symbol_without_size_reaches_to_next)
{
	struct symbol_table table = {0};
	add(&table, 100, 0, "a", STB_GLOBAL, STT_FUNC);
	add(&table, 5000, 0, "b", STB_GLOBAL, STT_FUNC);
	seal(&table);
	expect(&table, 4999, "a");
	expect(&table, 5000, "b");
	/* The last one's end: that of the next page. */
	expect(&table, 12287, "b");
	expect(&table, 12288, NULL);
	table_deinit(&table);
}

TEST(table_prefers_as_perf)
{
	/* `end` is the size here. */
	prefer((struct table_symbol){.name = "f", .end = 8, .binding = STB_WEAK, .type = STT_FUNC},
	       (struct table_symbol){.name = "label", .end = 8, .binding = STB_GLOBAL});
	prefer((struct table_symbol){.name = "l", .end = 8, .binding = STB_LOCAL, .type = STT_FUNC},
	       (struct table_symbol){
		       .name = "weak", .end = 8, .binding = STB_WEAK, .type = STT_FUNC});
	prefer(
		(struct table_symbol){
			.name = "g", .end = 8, .binding = STB_GLOBAL, .type = STT_FUNC},
		(struct table_symbol){
			.name = "lo", .end = 8, .binding = STB_LOCAL, .type = STT_FUNC});
	prefer(
		(struct table_symbol){
			.name = "_x", .end = 8, .binding = STB_GLOBAL, .type = STT_FUNC},
		(struct table_symbol){
			.name = "__xx", .end = 8, .binding = STB_GLOBAL, .type = STT_FUNC});
	prefer(
		(struct table_symbol){
			.name = "xyz", .end = 8, .binding = STB_GLOBAL, .type = STT_FUNC},
		(struct table_symbol){
			.name = "xy", .end = 8, .binding = STB_GLOBAL, .type = STT_FUNC});
}

TEST(table_prefers_one_with_a_size)
{
	struct symbol_table table = {0};
	add(&table, 100, 0, "longer", STB_GLOBAL, STT_FUNC);
	add(&table, 100, 8, "s", STB_WEAK, STT_FUNC);
	add(&table, 200, 8, "next", STB_GLOBAL, STT_FUNC);
	seal(&table);
	expect(&table, 105, "s");
	expect(&table, 110, NULL);
	table_deinit(&table);
}

TEST(table_of_several_without_size_the_last_wins)
{
	struct symbol_table table = {0};
	add(&table, 100, 0, "a_long_name", STB_GLOBAL, STT_FUNC);
	add(&table, 100, 0, "b", STB_LOCAL, STT_FUNC);
	add(&table, 200, 0, "c", STB_GLOBAL, STT_FUNC);
	seal(&table);
	expect(&table, 100, "b");
	table_deinit(&table);
}

TEST(table_of_equals_the_first_wins)
{
	struct symbol_table table = {0};
	add(&table, 100, 8, "ab", STB_GLOBAL, STT_FUNC);
	add(&table, 100, 8, "cd", STB_GLOBAL, STT_FUNC);
	seal(&table);
	expect(&table, 100, "ab");
	table_deinit(&table);
}

TEST(table_finds_the_innermost)
{
	struct symbol_table table = {0};
	add(&table, 100, 1000, "outer", STB_GLOBAL, STT_FUNC);
	add(&table, 200, 300, "middle", STB_GLOBAL, STT_FUNC);
	add(&table, 250, 10, "inner", STB_GLOBAL, STT_FUNC);
	add(&table, 300, 10, "inner2", STB_GLOBAL, STT_FUNC);
	seal(&table);
	expect(&table, 199, "outer");
	expect(&table, 255, "inner");
	expect(&table, 260, "middle");
	expect(&table, 310, "middle");
	expect(&table, 499, "middle");
	expect(&table, 500, "outer");
	expect(&table, 1099, "outer");
	expect(&table, 1100, NULL);
	table_deinit(&table);
}

TEST(table_label_within_a_function_is_passed_over)
{
	struct symbol_table table = {0};
	add(&table, 100, 1000, "function", STB_GLOBAL, STT_FUNC);
	add(&table, 200, 0, "label", STB_LOCAL, STT_NOTYPE);
	add(&table, 300, 50, "sized", STB_LOCAL, STT_NOTYPE);
	add(&table, 900, 0, "last", STB_LOCAL, STT_NOTYPE);
	add(&table, 2000, 0, "alone", STB_LOCAL, STT_NOTYPE);
	seal(&table);
	expect(&table, 250, "function");
	expect(&table, 310, "sized");
	expect(&table, 1000, "function");
	expect(&table, 1200, "last");
	expect(&table, 2001, "alone");
	table_deinit(&table);
}

TEST(table_sorts_the_whole_range)
{
	struct symbol_table table = {0};
	for (uint64_t i = 0; i < 64; i++)
		add(&table, (uint64_t)1 << (63 - i), 1, i % 2 ? "odd" : "even", STB_GLOBAL,
		    STT_FUNC);
	add(&table, 0, 1, "zero", STB_GLOBAL, STT_FUNC);
	add(&table, UINT64_MAX, 0, "last", STB_GLOBAL, STT_FUNC);
	seal(&table);
	for (uint64_t i = 0; i < 64; i++)
		expect(&table, (uint64_t)1 << (63 - i), i % 2 ? "odd" : "even");
	expect(&table, 0, "zero");
	ck_assert_str_eq(table_at(&table, UINT64_MAX)->name, "last");
	table_deinit(&table);
}

TEST(table_size_that_overflows_is_cut)
{
	struct symbol_table table = {0};
	add(&table, UINT64_MAX - 4, 100, "f", STB_GLOBAL, STT_FUNC);
	seal(&table);
	expect(&table, UINT64_MAX - 1, "f");
	table_deinit(&table);
}

TEST(table_at_wants_the_start)
{
	struct symbol_table table = {0};
	add(&table, 100, 50, "a", STB_GLOBAL, STT_FUNC);
	seal(&table);
	ck_assert_str_eq(table_at(&table, 100)->name, "a");
	ck_assert(!table_at(&table, 101));
	ck_assert(!table_at(&table, 99));
	table_deinit(&table);
}

TEST(table_ends_at_its_section)
{
	struct symbol_table table = {0};
	add(&table, 100, 0, "_init", STB_GLOBAL, STT_FUNC);
	table_limit_last(&table, 120);
	add(&table, 200, 50, "main", STB_GLOBAL, STT_FUNC);
	/* A size is not limited, nor is a symbol by an end before it. */
	table_limit_last(&table, 210);
	add(&table, 300, 0, "_fini", STB_GLOBAL, STT_FUNC);
	table_limit_last(&table, 299);
	seal(&table);
	expect(&table, 119, "_init");
	expect(&table, 120, NULL);
	expect(&table, 249, "main");
	expect(&table, 301, "_fini");
	table_deinit(&table);
}

TEST(table_finds_the_function_of_a_resolver)
{
	struct symbol_table table = {0};
	add(&table, 100, 50, "resolver_with_a_long_name", STB_GLOBAL, STT_FUNC);
	add(&table, 100, 50, "__strcpy", STB_GLOBAL, STT_GNU_IFUNC);
	add(&table, 100, 50, "strcpy", STB_GLOBAL, STT_GNU_IFUNC);
	add(&table, 200, 50, "main", STB_GLOBAL, STT_FUNC);
	seal(&table);
	ck_assert_str_eq(table_at(&table, 100)->name, "resolver_with_a_long_name");
	ck_assert_str_eq(table_ifunc_at(&table, 100)->name, "strcpy");
	ck_assert_str_eq(table_ifunc_at(&table, 200)->name, "main");
	ck_assert_ptr_null(table_ifunc_at(&table, 101));
	table_deinit(&table);
}
