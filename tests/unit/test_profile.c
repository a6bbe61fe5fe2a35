/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/filter.h"
#include "profile/profile.h"
#include <stdio.h>
#include <string.h>
#include "test.h"

/*
 * Chains are written "main;f;g 3": from the outermost caller down, and how many
 * samples of weight 10 ended there. A name is a function of dso "program".
 */
struct fixture {
	struct stacks stacks;
	struct functions functions;
	struct group groups[4];
	struct profile_source source;
	struct arena arena;
	struct sp_profile profile;
};

static uint32_t function(struct fixture *fixture, const char *name)
{
	struct function_source source = {
		.dso = "program", .dso_path = "/bin/program", .symbol = name,
		.start = hash_bytes(name, strlen(name)) & 0xffff0, .size = 16,
	};
	return functions_add(&fixture->functions, &source);
}

static void chain(struct fixture *fixture, uint32_t group, const char *text)
{
	char *copy = strdup(text), *save = NULL, *count = strrchr(copy, ' ');
	*count++ = 0;
	uint32_t node = stacks_child(&fixture->stacks, STACK_NONE, group);
	for (char *name = strtok_r(copy, ";", &save); name; name = strtok_r(NULL, ";", &save))
		node = stacks_child(&fixture->stacks, node, function(fixture, name));
	for (int i = atoi(count); i > 0; i--) {
		stacks_add(&fixture->stacks, node, 1, 10);
		weight_sums_add(&fixture->source.whole, 10);
	}
	free(copy);
}

static void finish(struct fixture *fixture)
{
	fixture->source.stacks = &fixture->stacks;
	fixture->source.functions = &fixture->functions;
	fixture->source.groups = fixture->groups;
	ck_assert(profile_rows(&fixture->source, &fixture->arena, &fixture->profile));
	if (fixture->source.tree != SP_TREE_NONE)
		ck_assert(profile_tree(&fixture->source, &fixture->arena, &fixture->profile));
}

static void fixture_deinit(struct fixture *fixture)
{
	stacks_deinit(&fixture->stacks);
	functions_deinit(&fixture->functions);
	arena_deinit(&fixture->arena);
}

/* The rows as "symbol self/total" in their order. */
static void rows_are(const struct fixture *fixture, const char *wanted)
{
	char text[1000] = "";
	for (size_t i = 0; i < fixture->profile.row_count; i++) {
		const struct sp_row *row = &fixture->profile.rows[i];
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s %d/%d",
			 i ? ", " : "", row->comm ? row->comm : "", row->symbol ? row->symbol : "",
			 (int)row->self.samples, (int)row->total.samples);
		ck_assert_uint_eq(row->self.weight, row->self.samples * 10);
		ck_assert_uint_eq(row->total.weight, row->total.samples * 10);
		ck_assert(row->self.share.low <= row->self.share.value);
	}
	ck_assert_str_eq(text, wanted);
}

static void print_tree(const struct sp_tree_node *node, char *text, size_t size)
{
	snprintf(text + strlen(text), size - strlen(text), "%s %d/%d", node->symbol ?: "",
		 (int)node->self.samples, (int)node->total.samples);
	for (size_t i = 0; i < node->child_count; i++) {
		snprintf(text + strlen(text), size - strlen(text), i ? ", " : " (");
		print_tree(&node->children[i], text, size);
	}
	if (node->child_count)
		snprintf(text + strlen(text), size - strlen(text), ")");
}

static void tree_is(const struct fixture *fixture, const char *wanted)
{
	char text[1000] = "";
	print_tree(fixture->profile.tree, text, sizeof(text));
	ck_assert_str_eq(text, wanted);
}

static struct fixture by_symbol(void)
{
	return (struct fixture){
		.source = {.keys = {[SP_KEY_SYMBOL] = true, [SP_KEY_DSO] = true}, .children = true},
		.groups = {{.comm = "one"}, {.comm = "two"}},
	};
}

TEST(totals_hold_what_was_called)
{
	struct fixture fixture = by_symbol();
	chain(&fixture, 0, "main;f;g 3");
	chain(&fixture, 0, "main;f 2");
	chain(&fixture, 0, "main;g 1");
	finish(&fixture);
	rows_are(&fixture, "main 0/6, f 2/5, g 4/4");
	fixture_deinit(&fixture);
}

TEST(recursion_is_counted_once)
{
	struct fixture fixture = by_symbol();
	chain(&fixture, 0, "main;f;f;g;f 3");
	chain(&fixture, 0, "main;f;g;g 2");
	chain(&fixture, 0, "main;f;h;f 1");
	chain(&fixture, 0, "f;main;f 1");
	finish(&fixture);
	rows_are(&fixture, "f 5/7, main 0/7, g 2/5, h 0/1");
	fixture_deinit(&fixture);
}

TEST(recursion_of_a_dso_is_counted_once_too)
{
	struct fixture fixture = by_symbol();
	fixture.source.keys[SP_KEY_SYMBOL] = false;
	chain(&fixture, 0, "main;f;g 3");
	chain(&fixture, 0, "main;f 2");
	finish(&fixture);
	rows_are(&fixture, " 5/5");
	ck_assert_str_eq(fixture.profile.rows[0].dso, "program");
	ck_assert_str_eq(fixture.profile.rows[0].dso_path, "/bin/program");
	fixture_deinit(&fixture);
}

TEST(without_children_rows_are_only_what_was_sampled)
{
	struct fixture fixture = by_symbol();
	fixture.source.children = false;
	chain(&fixture, 0, "main;f;g 3");
	chain(&fixture, 0, "main;f 5");
	finish(&fixture);
	rows_are(&fixture, "f 5/5, g 3/3");
	fixture_deinit(&fixture);
}

TEST(groups_are_rows_of_their_own_if_asked_for)
{
	struct fixture fixture = by_symbol();
	chain(&fixture, 0, "main;f 3");
	chain(&fixture, 1, "main;f 4");
	struct fixture other = fixture;
	finish(&fixture);
	rows_are(&fixture, "f 7/7, main 0/7");
	other.source.keys[SP_KEY_COMM] = true;
	other.arena = fixture.arena;
	finish(&other);
	rows_are(&other, "twof 4/4, twomain 0/4, onef 3/3, onemain 0/3");
	fixture_deinit(&other);
}

TEST(groups_that_look_the_same_are_one_row)
{
	struct fixture fixture = by_symbol();
	fixture.source.keys[SP_KEY_PID] = true;
	fixture.groups[0].pid = fixture.groups[2].pid = 7;
	fixture.groups[2].comm = "three";
	chain(&fixture, 0, "f 1");
	chain(&fixture, 1, "f 1");
	chain(&fixture, 2, "f 1");
	finish(&fixture);
	rows_are(&fixture, "f 2/2, f 1/1");
	ck_assert_int_eq(fixture.profile.rows[0].pid, 7);
	ck_assert_ptr_null(fixture.profile.rows[0].comm);
	fixture_deinit(&fixture);
}

TEST(equal_rows_are_in_the_order_of_names)
{
	struct fixture fixture = by_symbol();
	chain(&fixture, 0, "b 2");
	chain(&fixture, 0, "c 2");
	chain(&fixture, 0, "a 2");
	chain(&fixture, 0, "z 3");
	finish(&fixture);
	rows_are(&fixture, "z 3/3, a 2/2, b 2/2, c 2/2");
	fixture_deinit(&fixture);
}

TEST(a_tree_of_callers)
{
	struct fixture fixture = by_symbol();
	fixture.source.tree = SP_TREE_CALLER;
	chain(&fixture, 0, "main;f;g 3");
	chain(&fixture, 1, "main;g 4");
	chain(&fixture, 1, "main;f 2");
	chain(&fixture, 0, "start 1");
	finish(&fixture);
	tree_is(&fixture, " 0/10 (main 0/9 (f 2/5 (g 3/3), g 4/4), start 1/1)");
	fixture_deinit(&fixture);
}

TEST(a_tree_of_callees)
{
	struct fixture fixture = by_symbol();
	fixture.source.tree = SP_TREE_CALLEE;
	chain(&fixture, 0, "main;f;g 3");
	chain(&fixture, 1, "main;g 4");
	chain(&fixture, 1, "main;f 2");
	chain(&fixture, 0, "start 1");
	finish(&fixture);
	tree_is(&fixture, " 0/10 (g 0/7 (main 4/4, f 0/3 (main 3/3)), f 0/2 (main 2/2), start 1/1)");
	fixture_deinit(&fixture);
}

TEST(trees_may_begin_with_commands)
{
	struct fixture fixture = by_symbol();
	fixture.source.tree = SP_TREE_CALLER;
	fixture.source.tree_comms = true;
	fixture.groups[2].comm = fixture.groups[0].comm;
	chain(&fixture, 0, "main;f 3");
	chain(&fixture, 1, "main;f 1");
	chain(&fixture, 2, "main 1");
	finish(&fixture);
	tree_is(&fixture, " 0/5 (one 0/4 (main 1/4 (f 3/3)), two 0/1 (main 0/1 (f 1/1)))");
	ck_assert_ptr_null(fixture.profile.tree->children[0].dso);
	fixture_deinit(&fixture);
}

TEST(an_empty_profile_has_an_empty_tree)
{
	struct fixture fixture = by_symbol();
	fixture.source.tree = SP_TREE_CALLEE;
	finish(&fixture);
	ck_assert_uint_eq(fixture.profile.row_count, 0);
	tree_is(&fixture, " 0/0");
	fixture_deinit(&fixture);
}

TEST(deep_chains_need_no_stack)
{
	struct fixture fixture = by_symbol();
	uint32_t f = function(&fixture, "f"), g = function(&fixture, "g");
	uint32_t node = stacks_child(&fixture.stacks, STACK_NONE, 0);
	for (int i = 0; i < 1000000; i++)
		node = stacks_child(&fixture.stacks, node, i % 2 ? f : g);
	stacks_add(&fixture.stacks, node, 1, 10);
	weight_sums_add(&fixture.source.whole, 10);
	finish(&fixture);
	rows_are(&fixture, "f 1/1, g 0/1");
	fixture_deinit(&fixture);
}

TEST(functions_of_one_name_and_place_are_one)
{
	struct functions functions = {0};
	static const uint8_t id_one[20] = {1}, id_two[20] = {2};
	struct function_source source = {.dso = "libx.so", .dso_path = "/b/libx.so", .symbol = "f",
					 .start = 0x10, .size = 4, .build_id = id_one,
					 .build_id_size = 20};
	uint32_t first = functions_add(&functions, &source);
	source.dso_path = "/a/libx.so";
	ck_assert_uint_eq(functions_add(&functions, &source), first);
	ck_assert_str_eq(functions.items[first].dso_path, "/a/libx.so");
	ck_assert_str_eq(functions.items[first].build_id,
			 "0100000000000000000000000000000000000000");
	source.start = 0x20; /* another static function of that name */
	ck_assert_uint_ne(functions_add(&functions, &source), first);
	source.start = 0x10;
	source.build_id = id_two;
	ck_assert_uint_eq(functions_add(&functions, &source), first);
	ck_assert_ptr_null(functions.items[first].build_id);
	source.symbol = NULL;
	uint32_t unknown = functions_add(&functions, &source);
	ck_assert_str_eq(functions.items[unknown].symbol, "0x10");
	ck_assert(!functions.items[unknown].known);
	for (uint64_t i = 0; i < 5000; i++) {
		source.start = i * 16;
		ck_assert_uint_ne(functions_add(&functions, &source), UINT32_MAX);
	}
	ck_assert_uint_eq(functions.count, 5002);
	ck_assert_uint_eq(functions.dsos.count, 1);
	functions_deinit(&functions);
}

TEST(filters_let_pass_what_fits)
{
	const char *const names[] = {"ns::sort", "_ZN1aEv", "operator<", "(anonymous namespace)::f"};
	ck_assert(filter_symbol(NULL, 0, "anything", NULL));
	ck_assert(filter_symbol(names, 4, "ns::sort", NULL));
	ck_assert(filter_symbol(names, 4, "ns::sort<int>(int*)", NULL));
	ck_assert(!filter_symbol(names, 4, "ns::sorted<int>(int*)", NULL));
	ck_assert(!filter_symbol(names, 4, "sort", NULL));
	ck_assert(filter_symbol(names, 4, "a()", "_ZN1aEv"));
	ck_assert(filter_symbol(names, 4, "operator<(x, y)", NULL));
	ck_assert(!filter_symbol(names, 4, "operator<=(x, y)", NULL));
	ck_assert(filter_symbol(names, 4, "(anonymous namespace)::f(int)", NULL));
	ck_assert(!filter_symbol(names, 4, "(anonymous namespace)::g(int)", NULL));
	ck_assert(!filter_symbol(names, 4, "", NULL));
	const int32_t numbers[] = {3, -1};
	ck_assert(filter_number(numbers, 2, -1) && !filter_number(numbers, 2, 0));
	ck_assert(filter_number(NULL, 0, 5));
}
