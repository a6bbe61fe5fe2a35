/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/filter.h"
#include "profile/profile.h"
#include "record/python_record.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "test.h"

/*
 * Chains are written "main;f;g 3": from the outermost caller down, and how many
 * samples of weight 10 ended there. A name is a function of dso "program".
 */
struct fixture {
	struct tallies tallies;
	struct paths paths;
	struct functions functions;
	struct srcfiles files;
	struct group groups[4];
	const char *comms[4];
	struct profile_source source;
	struct arena arena;
	struct sp_profile profile;
	enum sp_tree_order tree_order;
	bool tree_comms, only_dso;
	const char *dso; /* NULL: "program" */
};

static uint32_t function(struct fixture *fixture, const char *name)
{
	struct functions *functions = &fixture->functions;
	struct function function = {
		.dso = functions_text(functions, fixture->dso ?: "program"),
		.dso_path = functions_text(functions, "/bin/program"),
	};
	if (!fixture->only_dso) {
		function.symbol = functions_text(functions, name);
		function.start = hash_bytes(name, strlen(name)) & 0xffff0;
		function.known = true;
	}
	return functions_add(functions, &function);
}

/* Tallies want a tree gone through once: here each chain is a tree of its own. */
static void tally(struct fixture *fixture, uint32_t group, const uint64_t *chain, size_t count,
		  uint64_t samples)
{
	uint32_t rows[100];
	for (size_t i = 0; i < count; i++) {
		rows[i] = tallies_row(&fixture->tallies, group, (uint32_t)chain[i]);
		ck_assert(!fixture->tallies.failed);
		tallies_open(&fixture->tallies, rows[i], samples, samples * 10);
	}
	tallies_self(&fixture->tallies, rows[count - 1], samples, samples * 10);
	for (size_t i = 0; i < count; i++)
		tallies_close(&fixture->tallies, rows[i]);
}

static void chain(struct fixture *fixture, uint32_t group, const char *text)
{
	uint64_t words[101], *functions = words + 1;
	size_t count = 0;
	bool callees = fixture->tree_order == SP_TREE_CALLEE;
	char *copy = strdup(text), *save = NULL, *samples_text = strrchr(copy, ' ');
	uint64_t samples = (uint64_t)atoi(samples_text + 1);
	*samples_text = 0;
	for (char *name = strtok_r(copy, ";", &save); name; name = strtok_r(NULL, ";", &save))
		functions[count++] = function(fixture, name);
	free(copy);
	tally(fixture, group, functions, count, samples);
	for (uint64_t i = 0; i < samples; i++)
		weight_sums_add(&fixture->source.whole, 10);
	for (size_t i = 0; callees && i < count / 2; i++) {
		uint64_t other = functions[i];
		functions[i] = functions[count - 1 - i];
		functions[count - 1 - i] = other;
	}
	words[0] = PATHS_COMM | group;
	uint32_t node = paths_add(&fixture->paths, words + !fixture->tree_comms,
				  count + fixture->tree_comms, samples, samples * 10);
	ck_assert_uint_ne(node, RADIX_NONE);
}

static void finish(struct fixture *fixture)
{
	fixture->source.tallies = &fixture->tallies;
	fixture->source.paths = &fixture->paths;
	fixture->source.functions = &fixture->functions;
	fixture->source.groups = fixture->groups;
	fixture->source.by_symbol = true;
	ck_assert(srcfiles_make(&fixture->files, &fixture->functions, false));
	fixture->source.files = &fixture->files;
	fixture->source.texts = fixture->comms;
	ck_assert(profile_rows(&fixture->source, &fixture->arena, &fixture->profile));
	const struct sp_tree_node **last = calloc(fixture->paths.radix.count + 1, sizeof(*last));
	ck_assert(last && profile_tree(&fixture->source, &fixture->arena, &fixture->profile, last));
	free(last);
}

static void fixture_deinit(struct fixture *fixture)
{
	tallies_deinit(&fixture->tallies);
	paths_deinit(&fixture->paths);
	functions_deinit(&fixture->functions);
	srcfiles_deinit(&fixture->files);
	arena_deinit(&fixture->arena);
}

/* The rows as "symbol self/total" in their order. */
static void rows_are(const struct fixture *fixture, const char *wanted)
{
	char text[1000] = "";
	for (size_t i = 0; i < fixture->profile.row_count; i++) {
		const struct sp_row *row = sp_profile_row(&fixture->profile, i);
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
		print_tree(sp_tree_child(node, i), text, size);
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
		.tallies = {.keys = {[SP_KEY_SYMBOL] = true, [SP_KEY_DSO] = true}},
		.source = {.children = true},
		.groups = {{.comm = "one"}, {.comm = "two"}},
		.comms = {"one", "two"},
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
	fixture.tallies.keys[SP_KEY_SYMBOL] = false;
	fixture.only_dso = true;
	chain(&fixture, 0, "main;f;g 3");
	chain(&fixture, 0, "main;f 2");
	finish(&fixture);
	rows_are(&fixture, " 5/5");
	ck_assert_str_eq(sp_profile_row(&fixture.profile, 0)->dso, "program");
	ck_assert_str_eq(sp_profile_row(&fixture.profile, 0)->dso_path, "/bin/program");
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

TEST(groups_are_rows_of_their_own)
{
	struct fixture fixture = by_symbol();
	fixture.tallies.keys[SP_KEY_COMM] = true;
	fixture.tallies.keys[SP_KEY_PID] = true;
	fixture.groups[0].pid = 7;
	chain(&fixture, 0, "main;f 3");
	chain(&fixture, 1, "main;f 4");
	finish(&fixture);
	rows_are(&fixture, "twof 4/4, twomain 0/4, onef 3/3, onemain 0/3");
	ck_assert_int_eq(sp_profile_row(&fixture.profile, 2)->pid, 7);
	fixture_deinit(&fixture);
}

TEST(python_functions_may_be_among_the_unresolved_ones)
{
	struct fixture fixture = by_symbol();
	chain(&fixture, 0, "native 10");
	fixture.dso = PYTHON_DSO;
	chain(&fixture, 0, "python 10");
	fixture.source.unresolved = 0.2;
	finish(&fixture);
	const struct sp_share *native = &sp_profile_row(&fixture.profile, 1)->self.share;
	const struct sp_share *python = &sp_profile_row(&fixture.profile, 0)->self.share;
	ck_assert_double_eq(native->low, python->low);
	ck_assert_double_eq_tol(native->high + 0.2, python->high, 1e-9);
	fixture_deinit(&fixture);
}

TEST(a_detail_without_a_number_fails)
{
	const uint64_t words[] = {1};
	struct details details = {.width = 1, .count = UINT32_MAX};
	ck_assert_uint_eq(details_add(&details, words), 0);
	ck_assert(details.failed);
	details_deinit(&details);
}

TEST(lists_of_rows_add_up)
{
	struct fixture one = by_symbol(), two = by_symbol();
	chain(&one, 0, "main;f 3");
	chain(&one, 0, "main;main 3");
	/* Ids of the first source's functions. */
	uint32_t f = function(&one, "f"), main_row = function(&one, "main");
	uint64_t words[] = {main_row, f};
	two.functions = one.functions;
	tally(&two, 3, words, 2, 5);
	for (size_t i = 0; i < two.tallies.count; i++)
		tallies_merge(&one.tallies, 0, &two.tallies.items[i]);
	finish(&one);
	rows_are(&one, "main 3/11, f 8/8");
	two.functions = (struct functions){0};
	fixture_deinit(&one);
	fixture_deinit(&two);
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
	fixture.tree_order = SP_TREE_CALLER;
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
	fixture.tree_order = SP_TREE_CALLEE;
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
	fixture.tree_comms = true;
	chain(&fixture, 0, "main;f 3");
	chain(&fixture, 1, "main;f 1");
	chain(&fixture, 0, "main 1");
	finish(&fixture);
	tree_is(&fixture, " 0/5 (one 0/4 (main 1/4 (f 3/3)), two 0/1 (main 0/1 (f 1/1)))");
	ck_assert_ptr_null(sp_tree_child(fixture.profile.tree, 0)->dso);
	fixture_deinit(&fixture);
}

TEST(light_branches_may_be_left_out)
{
	struct fixture fixture = by_symbol();
	fixture.source.tree_least = 0.2;
	chain(&fixture, 0, "main;f;g;h 3");
	chain(&fixture, 0, "main;f;g;i 1");
	chain(&fixture, 0, "main;k;l 1");
	chain(&fixture, 0, "main;k;m 1");
	chain(&fixture, 0, "n 4");
	finish(&fixture);
	tree_is(&fixture, " 0/10 (main 0/6 (f 0/4 (g 0/4 (h 3/3)), k 0/2), n 4/4)");
	const struct sp_tree_node *main_node = sp_tree_child(fixture.profile.tree, 0);
	ck_assert_uint_eq(main_node->left_out, 0);
	ck_assert_uint_eq(sp_tree_child(main_node, 1)->left_out, 2);
	ck_assert_uint_eq(sp_tree_child(sp_tree_child(main_node, 0), 0)->left_out, 1);
	fixture_deinit(&fixture);
}

TEST(an_empty_profile_has_an_empty_tree)
{
	struct fixture fixture = by_symbol();
	finish(&fixture);
	ck_assert_uint_eq(fixture.profile.row_count, 0);
	tree_is(&fixture, " 0/0");
	fixture_deinit(&fixture);
}

TEST(deep_chains_need_no_stack)
{
	struct fixture fixture = by_symbol();
	enum { DEPTH = 1000000 };
	uint64_t *words = calloc(DEPTH, sizeof(*words));
	words[1] = function(&fixture, "f");
	for (size_t i = 2; i < DEPTH; i++)
		words[i] = words[i - 2];
	words[0] = words[2] = function(&fixture, "g");
	paths_add(&fixture.paths, words, DEPTH, 1, 10);
	paths_add(&fixture.paths, words, DEPTH / 2, 1, 10);
	ck_assert(!fixture.paths.failed);
	finish(&fixture);
	const struct sp_tree_node *node = fixture.profile.tree;
	size_t depth = 0, samples = 0;
	for (; node->child_count; node = sp_tree_child(node, 0), depth++)
		samples += node->self.samples;
	ck_assert_uint_eq(depth, DEPTH);
	ck_assert_uint_eq(samples, 1);
	ck_assert_uint_eq(node->self.samples, 1);
	free(words);
	fixture_deinit(&fixture);
}

TEST(functions_of_one_name_and_place_are_one)
{
	struct functions functions = {0};
	static const uint8_t id_one[20] = {1}, id_two[20] = {2};
	struct function source = {.dso = functions_text(&functions, "libx.so"),
				  .dso_path = functions_text(&functions, "/b/libx.so"),
				  .build_id = functions_hex(&functions, id_one, 20),
				  .symbol = functions_text(&functions, "f"),
				  .start = 0x10, .known = true};
	struct named named = {.dso = source.dso, .name = source.symbol, .raw = source.symbol,
			      .start = 0x10};
	source.symbol_of = functions_named(&functions, &named);
	uint32_t first = functions_add(&functions, &source);
	source.dso_path = functions_text(&functions, "/a/libx.so");
	ck_assert_uint_eq(functions_add(&functions, &source), first);
	ck_assert_str_eq(functions.items[first].dso_path, "/a/libx.so");
	ck_assert_str_eq(functions.items[first].build_id,
			 "0100000000000000000000000000000000000000");
	source.start = 0x20; /* the same function in another build */
	ck_assert_uint_eq(functions_add(&functions, &source), first);
	ck_assert_uint_eq(functions.items[first].start, 0x10);
	named.place = 1; /* another static function of that name */
	source.symbol_of = functions_named(&functions, &named);
	ck_assert_uint_ne(functions_add(&functions, &source), first);
	named.place = 0;
	source.symbol_of = functions_named(&functions, &named);
	ck_assert_ptr_eq(source.symbol_of, functions.items[first].symbol_of);
	source.build_id = functions_hex(&functions, id_two, 20);
	ck_assert_uint_eq(functions_add(&functions, &source), first);
	ck_assert_ptr_null(functions.items[first].build_id);
	source.symbol = functions_address(&functions, 0x10);
	source.symbol_of = NULL;
	source.known = false;
	uint32_t unknown = functions_add(&functions, &source);
	ck_assert_str_eq(functions.items[unknown].symbol, "0x10");
	for (uint64_t i = 0; i < 5000; i++) {
		source.symbol = functions_address(&functions, 0x100 + i);
		ck_assert_uint_ne(functions_add(&functions, &source), UINT32_MAX);
	}
	ck_assert_uint_eq(functions.count, 5003);
	functions_deinit(&functions);
}

TEST(a_function_with_a_home_is_one_wherever_it_was_inlined)
{
	struct functions rows = {0}, nodes = {.inlined_apart = true};
	struct function there = {.function = functions_text(&rows, "f"),
				 .home = functions_text(&rows, "/src/f.c"), .start = 0x50,
				 .known = true};
	struct function inlined = there;
	inlined.inlined = true;
	uint32_t row = functions_add(&rows, &inlined);
	ck_assert(rows.items[row].inlined);
	ck_assert_uint_eq(functions_add(&rows, &there), row);
	ck_assert(!rows.items[row].inlined);
	uint32_t node = functions_add(&nodes, &inlined);
	ck_assert_uint_ne(functions_add(&nodes, &there), node);
	ck_assert(nodes.items[node].inlined);
	there.line = 7;
	there.srcfile = there.home;
	ck_assert_uint_ne(functions_add(&rows, &there), row);
	const struct named other = {.raw = there.function, .place = 2};
	there.function_of = functions_named(&rows, &other);
	ck_assert_uint_ne(functions_add(&rows, &there), row + 1);
	ck_assert_int_gt(function_compare(&there, &inlined), 0);
	functions_deinit(&rows);
	functions_deinit(&nodes);
}

TEST(source_files_are_shown_as_far_as_tells_them_apart)
{
	static const char *const paths[][2] = {
		{"/src/a/main.c", "a/main.c"},     {"/src/b/main.c", "b/main.c"},
		{"/src/b/domain.c", "domain.c"},   {"/x/one/lib/util.c", "one/lib/util.c"},
		{"/x/two/lib/util.c", "two/lib/util.c"}, {"util.c", "util.c"},
		{"/lib/util.c", "/lib/util.c"},    {"/src/alone.c", "alone.c"},
	};
	enum { COUNT = sizeof(paths) / sizeof(*paths) };
	struct functions functions = {0};
	struct srcfiles files;
	struct arena arena = {0};
	for (uint32_t i = 0; i < COUNT * 2; i++) {
		struct function function = {.srcfile = functions_text(&functions, paths[i / 2][0]),
					    .line = i};
		ck_assert_uint_eq(functions_add(&functions, &function), i);
	}
	ck_assert(srcfiles_make(&files, &functions, false));
	for (size_t i = 0; i < COUNT; i++)
		ck_assert_str_eq(srcfiles_shown(&files, functions.items[2 * i].srcfile), paths[i][1]);
	ck_assert_str_eq(srcfiles_line(&files, functions.items[0].srcfile, 12, &arena),
			 "a/main.c:12");
	ck_assert_ptr_null(srcfiles_line(&files, NULL, 12, &arena));
	ck_assert_ptr_null(srcfiles_shown(&files, NULL));
	srcfiles_deinit(&files);
	ck_assert(srcfiles_make(&files, &functions, true));
	ck_assert_str_eq(srcfiles_shown(&files, functions.items[0].srcfile), paths[0][0]);
	srcfiles_deinit(&files);
	functions_deinit(&functions);
	arena_deinit(&arena);
}

TEST(names_without_a_place_or_package_fit)
{
	static const char js[] = "sort /app/a b/srv.js:3:19", node[] = "run node:internal/x:67:35";
	static const char java[] = "int java.util.HashMap.merge(java.lang.Object, int)";
	static const struct { const char *wanted, *name; bool fits; } cases[] = {
		{js, js, true}, {"sort", js, true}, {"sort /app/a b/srv.js", js, true},
		{"sort /app/a b/srv.js:3", js, true}, {"sort …/srv.js:3:19", js, true},
		{"sort ~/srv.js:3:19", js, true}, {"sor", js, false}, {"sort /app", js, false},
		{"sort …/srv.js:3:1", js, false}, {"get", "get value /a.js:1:2", false},
		{"(anonymous)", "(anonymous) /a.js:1:2", true}, {"run", node, true},
		{"HashMap.merge", java, true}, {"java.util.HashMap.merge", java, true},
		{"HashMap.merge(…)", java, true}, {"…merge(~)", java, true}, {"merge", java, false},
		{"int java.util.HashMap.merge", java, true}, {"HashMap.mer", java, false},
		{"Main.run", "void Main.run(int)", true}, {"run", "void Main.run(int)", false},
		{"Program::Main", "void [app] Program::Main()", true},
		{"new", "operator new(unsigned long)", false}, {"f", "int ns::f(int)", false},
		{"…Base<…>::make", "v8::Base<v8::Heap>::make", true}, {"A::~A", "A::BA", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_msg(sp_name_fits(cases[i].wanted, cases[i].name) == cases[i].fits, "%s",
			      cases[i].wanted);
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
	const char *const versioned[] = {"read", "open@@V2"};
	ck_assert(filter_symbol(versioned, 2, "read@@GLIBC_2.2.5", NULL));
	ck_assert(filter_symbol(versioned, 2, "read@V1", NULL));
	ck_assert(!filter_symbol(versioned, 2, "read@plt", NULL));
	ck_assert(!filter_symbol(versioned, 2, "open@@V3", NULL));
	const char *const patterns[] = {"mc-*", "[python]", "lib?.so"};
	ck_assert(filter_pattern(patterns, 3, "mc-worker"));
	ck_assert(filter_pattern(patterns, 3, "[python]"));
	ck_assert(!filter_pattern(patterns, 3, "p"));
	ck_assert(filter_pattern(patterns, 3, "liba.so"));
	ck_assert(!filter_pattern(patterns, 3, "libab.so"));
	ck_assert(filter_pattern(NULL, 0, "anything"));
	const int32_t numbers[] = {3, -1};
	ck_assert(filter_number(numbers, 2, -1) && !filter_number(numbers, 2, 0));
	ck_assert(filter_number(NULL, 0, 5));
}

TEST(ranges_of_a_filter_that_meet_are_one)
{
	static const struct sp_time_span times[] = {{50, 60}, {70, 0},  {10, 20}, {20, 30},
						    {12, 15}, {40, 40}, {55, 65}};
	const struct sp_filter filter = {.times = times, .time_count = 7};
	size_t count;
	struct sp_time_span *ranges = filter_ranges(&filter, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert(ranges[0].begin_ns == 10 && ranges[0].end_ns == 30);
	ck_assert(ranges[1].begin_ns == 50 && ranges[1].end_ns == 65);
	ck_assert(ranges[2].begin_ns == 70 && ranges[2].end_ns == UINT64_MAX);
	free(ranges);
	ranges = filter_ranges(&(const struct sp_filter){0}, &count);
	ck_assert(ranges && !count);
	free(ranges);
}

/* Rows of several events have time without samples, too. */
TEST(joint_rows_are_those_of_one_event)
{
	struct fixture fixture = by_symbol();
	struct sp_group group = {0};
	chain(&fixture, 0, "main;f 3");
	uint32_t rest = tallies_row(&fixture.tallies, 0, function(&fixture, "[no stack]"));
	tallies_self(&fixture.tallies, rest, 0, 50);
	finish(&fixture);
	const struct profile_source sources[] = {fixture.source, fixture.source};
	ck_assert(profile_join(sources, 2, &fixture.arena, &group));
	ck_assert_uint_eq(fixture.profile.row_count, 3);
	ck_assert_uint_eq(group.row_count, 3);
	fixture_deinit(&fixture);
}
