/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each output, of a profile made by hand. */
#include "out/output.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "out/format_value.h"
#include "out/stat_output.h"
#include "test.h"

#define WEIGHT(n) {(n), (n) * 1000, {(n) / 1000.0, (n) / 1000.0 * 0.9, (n) / 1000.0 * 1.1}}
#define NODE(name, file, self_, total_, ...)                                           \
	{.symbol = name, .dso = file, .symbol_known = true, .self = WEIGHT(self_),     \
	 .total = WEIGHT(total_), __VA_ARGS__}
#define CHILDREN(list) .children = (list), .child_count = sizeof(list) / sizeof(*(list))

/* main calls hash (600), fib (300, calling itself up to three deep), and two small ones. */
static const struct sp_tree_node below_main[] = {
	NODE("hash", "demo", 600, 600),
	NODE("fib", "demo", 300, 300, .cycle_calls = 1, .cycle_rounds = 3),
	{.symbol = "0x1234", .dso = "lib.so", .self = WEIGHT(4), .total = WEIGHT(4)},
	{.symbol = "0x5678", .dso = "lib.so", .self = WEIGHT(3), .total = WEIGHT(3)},
};
static const struct sp_tree_node mains[] = {
	NODE("main", "demo", 43, 950, CHILDREN(below_main)),
};
static const struct sp_tree_node starts[] = {
	NODE("_start", "demo", 0, 950, CHILDREN(mains)),
	NODE("do_idle;x", "[kernel.kallsyms]", 50, 50, .level = SP_LEVEL_KERNEL),
};
static const struct sp_tree_node comms[] = {
	{.symbol = "de;mo", .self = WEIGHT(0), .total = WEIGHT(1000), CHILDREN(starts)},
};

static const struct sp_row rows[] = {
	{.self = WEIGHT(600), .total = WEIGHT(600), .comm = "demo", .pid = 7, .cpu = -1, .dso = "demo",
	 .symbol = "hash<int, char>(std::map<int, int> const&, int)", .symbol_known = true,
	 .build_id = "0123abcd"},
	{.self = WEIGHT(50), .total = WEIGHT(50), .comm = "a,\"b\"\x1b\xff", .pid = 8, .cpu = 3,
	 .dso = "[kernel.kallsyms]", .symbol = "do_idle", .symbol_known = true,
	 .level = SP_LEVEL_KERNEL},
	{.self = WEIGHT(0), .total = WEIGHT(0), .comm = "demo", .pid = 7, .cpu = 0, .dso = "lib.so",
	 .symbol = "0x1234"},
};

static const enum sp_key default_keys[] = {SP_KEY_COMM, SP_KEY_DSO, SP_KEY_SYMBOL};

static char *written; /* by the last write_output() */

static const char *write_output(const struct output_format *output, const struct report *report)
{
	size_t size;
	free(written);
	FILE *out = open_memstream(&written, &size);
	ck_assert_ptr_nonnull(out);
	ck_assert(output->write(report, out));
	fclose(out);
	return written;
}

static struct sp_profile sample_profile(void)
{
	return (struct sp_profile){
		.event = "cpu-clock",
		.samples = 1000,
		.weight = 1000000,
		.shown_samples = 1000,
		.shown_weight = 1000000,
		.weight_is_time = true,
		.is_estimate = true,
		.rows = rows,
		.row_count = sizeof(rows) / sizeof(*rows),
	};
}

static struct report sample_report(const struct sp_profile *const *profiles, size_t count)
{
	return (struct report){
		.path = "sprof.data",
		.duration_ns = 1000000,
		.profiles = profiles,
		.profile_count = count,
		.keys = default_keys,
		.key_count = 3,
		.quiet = true,
	};
}

TEST(csv_has_the_columns_of_the_contract)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	ck_assert_str_eq(write_output(&output_csv, &report),
		"self,self_low,self_high,self_samples,self_weight,"
		"total,total_low,total_high,total_samples,total_weight,comm,dso,symbol,build_id\n"
		"0.6,0.54,0.66,600,600000,0.6,0.54,0.66,600,600000,demo,demo,"
		"\"hash<int, char>(std::map<int, int> const&, int)\",0123abcd\n"
		"0.05,0.045,0.055,50,50000,0.05,0.045,0.055,50,50000,\"a,\"\"b\"\"\xef\xbf\xbd\xef\xbf\xbd\","
		"[kernel.kallsyms],do_idle,\n"
		"0,0,0,0,0,0,0,0,0,0,demo,lib.so,0x1234,\n");
	/* With call chains, and without asking for them, totals are not known. */
	profile.has_callchains = true;
	report.row_limit = 0.3;
	ck_assert_str_eq(strchr(write_output(&output_csv, &report), '\n'),
		"\n0.6,0.54,0.66,600,600000,,,,,,demo,demo,"
		"\"hash<int, char>(std::map<int, int> const&, int)\",0123abcd\n");
}

/* A share's between-run interval replaces the other where it varies. */
TEST(between_run_intervals_are_marked_where_they_are_shown)
{
	static const struct sp_between varies = {0.25, 0.875, 40, true};
	static const struct sp_between steady = {0.5, 0.75, 2, false};
	struct sp_row row = rows[0];
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	profile.rows = &row;
	profile.row_count = 1;
	row.self_between = &varies;
	row.total_between = &steady;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "60.00%  ~25.0-87.5  "));
	report.children = true;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "60.00%  54.0-66.0  "));
	report.interval = SHOWN_BETWEEN;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "60.00%  50.0-75.0  "));
	report.children = false;
	report.interval = SHOWN_WITHIN;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "60.00%  54.0-66.0  "));
	const char *text = write_output(&output_csv, &report);
	ck_assert_ptr_nonnull(strstr(text, ",build_id,self_between_low,self_between_high,"
					   "total_between_low,total_between_high\n"));
	ck_assert_ptr_nonnull(strstr(text, ",0123abcd,0.25,0.875,0.5,0.75\n"));
	text = write_output(&output_json, &report);
	ck_assert_ptr_nonnull(strstr(text, "\"self_low\": 0.54, "));
	ck_assert_ptr_nonnull(strstr(
		text, "\"build_id\": \"0123abcd\", \"self_between_low\": 0.25, "
		      "\"self_between_high\": 0.875, \"total_between_low\": 0.5, "
		      "\"total_between_high\": 0.75}"));
}

TEST(csv_keys_come_in_the_order_of_the_contract_not_of_the_user)
{
	static const enum sp_key keys[] = {SP_KEY_CPU, SP_KEY_PID};
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile, &profile};
	struct report report = sample_report(profiles, 2);
	report.keys = keys;
	report.key_count = 2;
	report.row_limit = 0.01;
	const char *text = write_output(&output_csv, &report);
	ck_assert_ptr_nonnull(strstr(text, ",total_weight,pid,cpu,event\n"));
	ck_assert_ptr_nonnull(strstr(text, ",600000,7,,cpu-clock\n"));
	ck_assert_ptr_nonnull(strstr(text, ",50000,8,3,cpu-clock\n"));
}

TEST(json_is_as_the_contract_has_it)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	struct sp_tree_node root = {.total = WEIGHT(1000), CHILDREN(starts)};
	profile.tree = &root;
	profile.lost = 5;
	profile.lost_own = 4;
	profile.throttled_count = 2;
	profile.throttled_ns = 77;
	profile.stacks[SP_STACK_NONE] = 1000;
	report.row_limit = 0.01;
	report.tree_limit = 0.5;
	report.damaged = true;
	static const struct sp_finding lost = {SP_FINDING_LOST, 5, 0.25, "5 got \"lost\"", "-m 2M"};
	static const struct sp_finding note = {.kind = SP_FINDING_NOTE, .what = "was slow"};
	static const struct sp_finding newer = {.kind = 4711, .what = "?"};
	report.findings = (const struct sp_finding *const[]){&lost, &note, &newer};
	report.finding_count = 3;
	ck_assert_str_eq(write_output(&output_json, &report),
		"{\n"
		" \"sprof\": 1,\n"
		" \"file\": {\"path\": \"sprof.data\", \"duration_ns\": 1000000, \"damaged\": true},\n"
		" \"events\": [\n"
		"  {\n"
		"   \"name\": \"cpu-clock\",\n"
		"   \"samples\": 1000,\n"
		"   \"weight\": 1000000,\n"
		"   \"lost\": 5,\n"
		"   \"lost_own\": 4,\n"
		"   \"throttled\": {\"count\": 2, \"ns\": 77},\n"
		"   \"stacks\": {\"complete\": 0, \"truncated\": 0, \"no_unwind_info\": 0, "
		"\"bad_memory\": 0, \"depth_limit\": 0, \"skipped\": 0, \"switched\": 0, \"none\": 1000},\n"
		"   \"repaired\": 0,\n"
		"   \"rows\": [\n"
		"    {\"self\": 0.6, \"self_low\": 0.54, \"self_high\": 0.66, \"self_samples\": 600, "
		"\"self_weight\": 600000, \"total\": 0.6, \"total_low\": 0.54, \"total_high\": 0.66, "
		"\"total_samples\": 600, \"total_weight\": 600000, "
		"\"comm\": \"demo\", \"dso\": \"demo\", "
		"\"symbol\": \"hash<int, char>(std::map<int, int> const&, int)\", "
		"\"build_id\": \"0123abcd\"},\n"
		"    {\"self\": 0.05, \"self_low\": 0.045, \"self_high\": 0.055, \"self_samples\": 50, "
		"\"self_weight\": 50000, \"total\": 0.05, \"total_low\": 0.045, \"total_high\": 0.055, "
		"\"total_samples\": 50, \"total_weight\": 50000, "
		"\"comm\": \"a,\\\"b\\\"\\u001b\xef\xbf\xbd\", "
		"\"dso\": \"[kernel.kallsyms]\", \"symbol\": \"do_idle\"}\n"
		"   ],\n"
		"   \"tree\": [\n"
		"    {\"symbol\": \"_start\", \"dso\": \"demo\", \"self\": 0, \"total\": 0.95, "
		"\"children\": ["
		"{\"symbol\": \"main\", \"dso\": \"demo\", \"self\": 0.043, \"total\": 0.95, "
		"\"children\": ["
		"{\"symbol\": \"hash\", \"dso\": \"demo\", \"self\": 0.6, \"total\": 0.6, "
		"\"children\": []}"
		"]}]}\n"
		"   ]\n"
		"  }\n"
		" ],\n"
		" \"findings\": [\n"
		"  {\"kind\": \"lost\", \"text\": \"5 got \\\"lost\\\"\", \"remedy\": \"-m 2M\", "
		"\"samples\": 5, \"share\": 0.25},\n"
		"  {\"kind\": \"note\", \"text\": \"was slow\"},\n"
		"  {\"kind\": \"other\", \"text\": \"?\"}\n"
		" ]\n"
		"}\n");
}

TEST(truncated_stacks_are_shown_as_such)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	const struct sp_tree_node inner[] = {NODE("main", "demo", 400, 400)};
	const struct sp_tree_node outer[] = {
		NODE("[truncated stacks]", NULL, 0, 400, CHILDREN(inner), .truncated = true)};
	const struct sp_tree_node comm[] = {NODE("demo", NULL, 0, 400, CHILDREN(outer))};
	struct sp_tree_node root = {.total = WEIGHT(400), CHILDREN(outer)};
	profile.tree = &root;
	report.tree = SP_TREE_CALLER;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report),
		" 40.00%  36.0-44.0    0.00%  [truncated stacks]\n"
		"                     40.00%  main [demo]\n"));
	ck_assert_ptr_nonnull(strstr(write_output(&output_json, &report),
		"{\"symbol\": \"[truncated stacks]\", \"truncated\": true, \"self\": 0, "));
	root.children = comm;
	ck_assert_str_eq(write_output(&output_folded, &report),
			 "demo;[truncated stacks];main 400\n");
}

TEST(folded_lines_have_the_command_first_and_each_stack_once)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	struct sp_tree_node root = {.total = WEIGHT(1000), CHILDREN(comms)};
	profile.tree = &root;
	ck_assert_str_eq(write_output(&output_folded, &report),
		"de:mo;_start;main 43\n"
		"de:mo;_start;main;fib (recursive) 300\n"
		"de:mo;_start;main;hash 600\n"
		"de:mo;_start;main;[lib.so] 7\n"
		"de:mo;do_idle:x_[k] 50\n");
}

TEST(folded_frames_of_files_have_no_samples_of_code_without_one)
{
	static const struct sp_identity shared = {.name_is_shared = true};
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	const struct sp_tree_node functions[] = {
		NODE("f", "a.so", 5, 5, .identity = &shared), NODE("f", "[JIT]", 3, 3)};
	struct sp_tree_node root = {.total = WEIGHT(8), CHILDREN(functions)};
	profile.tree = &root;
	ck_assert_str_eq(write_output(&output_folded, &report), "f 3\nf [a.so] 5\n");
}

TEST(text_table_is_aligned_and_cuts_nothing_in_a_file)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	ck_assert_str_eq(write_output(&output_text, &report),
		"  self   low-high  comm     dso                symbol\n"
		"60.00%  54.0-66.0  demo     demo               [.] "
		"hash<int, char>(std::map<int, int> const&, int)\n"
		" 5.00%   4.5- 5.5  a,\"b\"??  [kernel.kallsyms]  [k] do_idle\n"
		" 0.00%             demo     lib.so             [.] 0x1234\n");
	report.show_samples = true;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report),
		"60.00%  54.0-66.0      600  demo     demo  "));
}

TEST(text_table_bounds_columns_of_long_names)
{
	static const char name[] = "a_function_with_a_name_of_more_than_sixty_columns_moves_its_line_only";
	const struct sp_row two[] = {
		{.self = WEIGHT(600), .total = WEIGHT(600), .symbol = name, .dso = "demo"},
		{.self = WEIGHT(100), .total = WEIGHT(100), .symbol = "main", .dso = "lib"},
	};
	static const enum sp_key keys[] = {SP_KEY_SYMBOL, SP_KEY_DSO};
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	char wanted[256];
	profile.rows = two;
	profile.row_count = 2;
	report.keys = keys;
	report.key_count = 2;
	const char *text = write_output(&output_text, &report);
	snprintf(wanted, sizeof(wanted), "[.] %s  demo\n", name);
	ck_assert_ptr_nonnull(strstr(text, wanted));
	snprintf(wanted, sizeof(wanted), "[.] %-56s  lib\n", "main");
	ck_assert_ptr_nonnull(strstr(text, wanted));
}

TEST(text_table_marks_what_is_only_inlined)
{
	static const struct sp_row inlined[] = {
		{.self = WEIGHT(600), .total = WEIGHT(600), .function = "f", .symbol_known = true,
		 .inlined = true, .srcline = "f.c:7"},
		{.self = WEIGHT(100), .total = WEIGHT(100), .function = "main", .symbol_known = true},
	};
	static const enum sp_key keys[] = {SP_KEY_FUNCTION, SP_KEY_SRCLINE};
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	profile.rows = inlined;
	profile.row_count = 1;
	report.keys = keys;
	report.key_count = 2;
	ck_assert_str_eq(write_output(&output_text, &report),
			 "  self   low-high  function         srcline\n"
			 "60.00%  54.0-66.0  [.] f (inlined)  f.c:7\n");
	profile.row_count = 2;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report),
				     "  [.] main         [no source line]\n"));
	ck_assert_ptr_nonnull(strstr(write_output(&output_csv, &report),
				     ",total_weight,function,srcline\n"));
	ck_assert_ptr_nonnull(strstr(write_output(&output_json, &report),
				     "\"function\": \"f\", \"srcline\": \"f.c:7\"}"));
}

TEST(text_table_fits_the_terminal)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	report.children = true;
	report.row_limit = 0.1;
	for (int width = 60; width < 140; width++) {
		report.term = (struct term){.utf8 = true, .width = width};
		char *text = strdup(write_output(&output_text, &report)), *rest = text, *line;
		while ((line = strsep(&rest, "\n")))
			ck_assert_int_le(term_text_width(&report.term, line), width);
		free(text);
	}
	report.term.width = 80;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "hash<int, char>(…)"));
}

TEST(text_tree_folds_what_passes_on_and_what_calls_itself)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	struct sp_tree_node root = {.total = WEIGHT(1000), CHILDREN(starts)};
	profile.tree = &root;
	report.tree = SP_TREE_CALLER;
	report.row_limit = report.tree_limit = 0.005;
	const char *tree = strstr(write_output(&output_text, &report), "\n\n");
	ck_assert_ptr_nonnull(tree);
	ck_assert_str_eq(tree + 2,
		"  total   low-high     self  call tree, callers first; below 0.50% hidden\n"
		" 95.00%  85.5- 100    0.00%  _start [demo]\n"
		"                      4.30%  main\n"
		" 60.00%  54.0-66.0   60.00%  |- hash\n"
		" 30.00%  27.0-33.0   30.00%  |- fib (recursive, up to 3 deep)\n"
		"  0.70%                      `- ... 2 more, each below 0.50%\n"
		"  5.00%   4.5- 5.5    5.00%  do_idle;x [kernel.kallsyms]\n");
}

TEST(text_says_why_there_is_nothing)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	profile.row_count = 0;
	report.filtered = true;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "passes the filters"));
	profile.samples = profile.weight = 0;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "No samples"));
	profile.lost = 3;
	ck_assert_ptr_null(strstr(write_output(&output_text, &report), "were lost"));
	profile.lost_own = 3;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "were lost"));
	report.damaged = true;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "damaged"));
}

TEST(numbers_are_written_as_people_read_them)
{
	const struct term term = {0};
	const struct sp_share small = {0.0002, 0, 0.0011}, large = {0.6, 0.584, 0.99996};
	char buffer[FORMAT_SIZE];
	ck_assert_str_eq(format_count(0, buffer), "0");
	ck_assert_str_eq(format_count(999, buffer), "999");
	ck_assert_str_eq(format_count(1234567, buffer), "1,234,567");
	ck_assert_str_eq(format_count(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
	const struct sp_share exact = {0.984, 0.98391, 0.98412}, all = {1, 0.9999, 1};
	ck_assert_str_eq(format_share(0, buffer), "0.00%");
	ck_assert_str_eq(format_share(0.00004, buffer), "<0.01%");
	ck_assert_str_eq(format_share(0.6231, buffer), "62.31%");
	ck_assert_str_eq(format_share(0.99996, buffer), ">99.99%");
	ck_assert_str_eq(format_share(1, buffer), "100.00%");
	ck_assert_str_eq(format_range(&term, &exact, 2, buffer), "98.39-98.41");
	ck_assert_str_eq(format_range(&term, &all, 2, buffer), "99.99-  100");
	ck_assert_str_eq(format_range(&term, &small, 2, buffer), " 0.00- 0.11");
	ck_assert_str_eq(format_range(&term, &large, 1, buffer), "58.4- 100");
	ck_assert_str_eq(format_share_short(0.0004, buffer), "<0.1%");
	ck_assert_str_eq(format_share_short(0.0914, buffer), "9.1%");
	ck_assert_str_eq(format_share_short(0.9999, buffer), ">99.9%");
	ck_assert_str_eq(format_share_short(1, buffer), "100%");
	ck_assert_str_eq(format_duration(&term, 0, buffer), "0 ns");
	ck_assert_str_eq(format_duration(&term, 999499, buffer), "999 us");
	ck_assert_str_eq(format_duration(&term, 1000000, buffer), "1 ms");
	ck_assert_str_eq(format_duration(&term, 5021000000, buffer), "5.02 s");
	ck_assert_str_eq(format_duration(&term, 99999999999, buffer), "1 min 40 s");
	ck_assert_str_eq(format_duration(&term, 7261000000000, buffer), "2 h 01 min");
	ck_assert_str_eq(format_duration(&term, UINT64_MAX, buffer), "5124095 h 34 min");
}

/* Halves, and numbers next to them, are sensitive to rounding. */
TEST(shares_are_rounded_as_by_printf)
{
	const struct term term = {0};
	uint64_t seed = 1;
	for (int i = 0; i < 200000; i++) {
		char share[FORMAT_SIZE], range[FORMAT_SIZE], wanted[FORMAT_SIZE];
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		double value = (double)(seed >> 11) / 0x1p53;
		if (i % 4 == 1)
			value = (double)(seed >> 54) / 0x1p10;
		else if (i % 4 == 2)
			value = ((double)(seed >> 48) + 0.5) / 1e4 / 6.6;
		else if (i % 4 == 3)
			value = nextafter(round(value * 1e4) / 1e4 + 0.5e-4, seed & 1024 ? 0 : 1);
		if (!(value >= 0.00005 && value < 0.99995))
			continue;
		snprintf(wanted, sizeof(wanted), "%.2f%%", value * 100);
		ck_assert_str_eq(format_share(value, share), wanted);
		/* With one decimal, as a wide interval has it. */
		snprintf(wanted, sizeof(wanted), " 0.0-%4.1f", value * 100);
		const struct sp_share alternate = {value / 2, 0, value};
		if (value < 0.9995)
			ck_assert_str_eq(format_range(&term, &alternate, 1, range), wanted);
	}
}

static void shortens_to(const char *name, int width, const char *wanted)
{
	const struct term term = {0};
	char *made;
	const char *text = name_shorten(&term, name, width, &made);
	ck_assert_str_eq(text, wanted);
	free(made);
}

TEST(names_lose_parameters_then_template_arguments)
{
	shortens_to("f(int)", 0, "f(int)");
	shortens_to("f(int)", 6, "f(int)");
	shortens_to("f(int)", 5, "f(~)");
	shortens_to("a<b<c>, d>::f(int, g(*)(h))", 16, "a<b<c>, d>::f(~)");
	shortens_to("a<b<c>, d>::f(int, g(*)(h))", 15, "a<~>::f(~)");
	shortens_to("(anonymous namespace)::f(int)", 5, "(anonymous namespace)::f(~)");
	shortens_to("(anonymous) /tmp/n.js:2:82", 20, "(anonymous) ~/n.js:2:82");
	shortens_to("operator<< <int>(a, b)", 5, "operator<< <~>(~)");
	shortens_to("operator-><ab>(a, b)", 5, "operator-><~>(~)");
	shortens_to("f()", 1, "f()");
	shortens_to("unclosed<(", 2, "unclosed<(");
}

TEST(java_methods_lose_parameters_then_the_package)
{
	const char *method = "void java.util.Arrays.sort(java.lang.Object[], int)";
	shortens_to(method, 51, method);
	shortens_to(method, 50, "void java.util.Arrays.sort(~)");
	shortens_to(method, 28, "Arrays.sort(~)");
	shortens_to("int a.B.c()", 10, "B.c()");
	/* No package. */
	shortens_to("long Sort.fib(int)", 10, "long Sort.fib(~)");
	shortens_to("void main.run(int)", 10, "void main.run(~)");
	shortens_to("a::b.c.d(int)", 5, "~d(~)");
	shortens_to("github.com/x/y.z(int)", 5, "~z(~)");
	shortens_to("runtime.(*mheap).alloc.func1(int)", 5, "~func1(~)");
}

TEST(names_keep_the_end_that_distinguishes_them)
{
	shortens_to("BaseHandler.start_response", 26, "BaseHandler.start_response");
	shortens_to("BaseHandler.start_response", 25, "~start_response");
	shortens_to("v8::internal::Factory::NewMap", 20, "~Factory::NewMap");
	shortens_to("parse /home/me/app.js:2:20", 25, "parse ~/me/app.js:2:20");
	shortens_to("parse /home/me/app.js:2:20", 5, "parse ~/app.js:2:20");
	shortens_to("parse node:internal/loader:2:20", 25, "parse ~/loader:2:20");
	shortens_to("<module> (a_long_file.py)", 5, "<module> (a_long_file.py)");
	shortens_to("a_name.constprop.0", 5, "a_name.constprop.0");
	shortens_to("std::", 2, "std::");
	shortens_to(" /", 1, " /");
}

#define CXX11_STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

TEST(strings_have_their_short_names)
{
	shortens_to("f(" CXX11_STRING " const&)", 0, "f(std::string const&)");
	shortens_to("std::map<" CXX11_STRING ", int>::at", 0, "std::map<std::string, int>::at");
	shortens_to("std::basic_string<char, std::char_traits<char>, std::allocator<char>>::size()", 0,
		    "std::string::size()");
	shortens_to("f(std::__1::basic_string<wchar_t, std::__1::char_traits<wchar_t>, "
		    "std::__1::allocator<wchar_t> >)", 0, "f(std::wstring)");
	shortens_to("f(std::basic_string_view<char, std::char_traits<char> >)", 0,
		    "f(std::string_view)");
	shortens_to("std::vector<" CXX11_STRING " >::size", 0, "std::vector<std::string>::size");
	/* Others keep their arguments. */
	shortens_to("std::basic_string<char, my::traits, std::allocator<char> >::f", 0,
		    "std::basic_string<char, my::traits, std::allocator<char> >::f");
	shortens_to("std::__cxx11::basic_string<char, std::char_tr", 0,
		    "std::__cxx11::basic_string<char, std::char_tr");
	shortens_to("basic_string std::__", 0, "basic_string std::__");
	shortens_to("f(" CXX11_STRING ", int)", 8, "f(~)");
}

/* The head's lines, and the rows that are left out. */
TEST(text_orders_by_self_and_stops)
{
	static const struct sp_row many[] = {
		{.self = WEIGHT(600), .total = WEIGHT(600), .comm = "demo", .dso = "demo", .symbol = "a"},
		{.self = WEIGHT(390), .total = WEIGHT(1000), .comm = "demo", .dso = "lib", .symbol = "b"},
		{.self = WEIGHT(6), .total = WEIGHT(900), .comm = "x", .dso = "demo", .symbol = "c"},
		{.self = WEIGHT(4), .total = WEIGHT(800), .comm = "x", .dso = "demo", .symbol = "d"},
	};
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	profile.rows = many;
	profile.row_count = 4;
	report.quiet = false;
	report.children = report.order_by_self = true;
	report.row_coverage = 0.99;
	ck_assert_str_eq(write_output(&output_text, &report),
		"sprof.data\n"
		"1,000 samples of cpu-clock, 1 ms of CPU time, none lost\n"
		"Percentages are of total CPU time; low-high is the 95% confidence interval.\n"
		"All rows: comm demo\n"
		"  self   low-high    total  dso   symbol\n"
		"60.00%  54.0-66.0   60.00%  demo  [.] a\n"
		"39.00%  35.1-42.9  100.00%  lib   [.] b\n"
		"... 2 more rows, 1.0% in all; --percent-limit 0 shows them\n");
	report.row_most = 1;
	profile.lost = 15;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "... 3 more rows, 40.0% in"));
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report),
				     ", none lost (15 of other processes)\n"));
	report.filtered = true;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report),
				     "with --percentage relative it is what passes them.\n"));
	report.filtered = false;
	profile.lost = 0;
	report.row_coverage = 0;
	report.row_most = 0;
	report.quiet = report.keep_keys = true;
	report.row_limit = 0.005;
	ck_assert_str_eq(write_output(&output_text, &report),
		"  self   low-high    total  comm  dso   symbol\n"
		"60.00%  54.0-66.0   60.00%  demo  demo  [.] a\n"
		"39.00%  35.1-42.9  100.00%  demo  lib   [.] b\n"
		" 0.60%   0.5- 0.7   90.00%  x     demo  [.] c\n"
		"... 1 row below 0.50%, 0.4% in all; report with --percent-limit 0 shows them\n");
	report.row_limit = 0.5;
	report.order_by_self = false;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), " total   low-high    self  "));
}

/* Deep trees, long names and suffixes stay within the terminal. */
/* A mode of time shows waits with other samples; the share is not of these. */
TEST(text_names_the_event_of_findings_about_waits)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	struct sp_finding cut = {.kind = SP_FINDING_TRUNCATED_STACKS, .samples = 1, .share = 0.1,
				 .what = "10% of stacks are truncated", .cause = "truncated",
				 .event = "offcpu-time", .summary = "of stacks are truncated"};
	report.quiet = false;
	report.findings = (const struct sp_finding *const[]){&cut};
	report.finding_count = 1;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report),
				     "10% of stacks are truncated: offcpu-time\n"));
	cut.event = "cpu-clock";
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "10% of stacks are truncated\n"));
}

TEST(text_of_a_live_recording_names_no_command_for_its_file)
{
	const struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	const struct report_live live = {.title = "last 10 s"};
	struct sp_finding items[4];
	for (size_t i = 0; i < 4; i++)
		items[i] = (struct sp_finding){.kind = SP_FINDING_DAMAGE, .what = "damaged"};
	report.findings = (const struct sp_finding *const[]){&items[0], &items[1], &items[2],
							     &items[3]};
	report.finding_count = 4;
	report.quiet = false;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "1 more: sprof info"));
	report.live = &live;
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report),
				     "    1 more: --format json shows them\n"));
}

/* "1.22" at a line's end would not be read with the next line's "s". */
TEST(text_breaks_no_line_after_a_number)
{
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	report.quiet = false;
	report.mode = profile.mode = SP_MODE_LATENCY;
	profile.times = (struct sp_times){.running_ns = 679000000, .runnable_ns = 174000000,
					  .blocked_ns = 1220000000};
	size_t lines = 0;
	for (int width = 40; width < 120; width++) {
		report.term = (struct term){.utf8 = true, .width = width};
		char *text = strdup(write_output(&output_text, &report));
		char *begin = strstr(text, "1 ms of the"), *line;
		ck_assert_ptr_nonnull(begin);
		*strstr(begin, "Percentages") = '\0';
		for (char *rest = begin; (line = strsep(&rest, "\n"));) {
			size_t length = strlen(line);
			ck_assert(!length || line[length - 1] < '0' || line[length - 1] > '9');
			lines += length != 0;
		}
		free(text);
	}
	ck_assert_uint_gt(lines, 80); /* some were broken */
}

TEST(text_trees_fit_the_terminal)
{
	enum { DEPTH = 40 };
	static struct sp_tree_node nodes[DEPTH][2];
	static char names[DEPTH][64];
	struct sp_profile profile = sample_profile();
	const struct sp_profile *const profiles[] = {&profile};
	struct report report = sample_report(profiles, 1);
	for (int i = DEPTH - 1; i >= 0; i--) {
		snprintf(names[i], sizeof(names[i]), "function_%d(a_rather_long_type, another_type)", i);
		nodes[i][0] = (struct sp_tree_node)NODE(names[i], i % 2 ? "demo" : "[kernel.kallsyms]",
			5, (uint64_t)(1000 - i * 20), .cycle_calls = i % 3 ? 0 : 1, .cycle_rounds = 123);
		nodes[i][1] = (struct sp_tree_node)NODE("other", "libother.so.4.5.6", 10, 10);
		if (i + 1 < DEPTH) {
			nodes[i][0].children = nodes[i + 1];
			nodes[i][0].child_count = 2;
		}
	}
	struct sp_tree_node root = {.total = WEIGHT(1000), .children = nodes[0], .child_count = 2};
	profile.tree = &root;
	report.tree = SP_TREE_CALLER;
	report.hide_rows = true;
	for (int width = 80; width < 120; width++) {
		report.term = (struct term){.utf8 = true, .width = width};
		char *text = strdup(write_output(&output_text, &report)), *rest = text, *line;
		ck_assert_ptr_nonnull(strstr(text, "(recursive, up to 123 deep)"));
		while ((line = strsep(&rest, "\n")))
			ck_assert_int_le(term_text_width(&report.term, line), width);
		free(text);
	}
	ck_assert_ptr_nonnull(strstr(write_output(&output_text, &report), "39:"));
}

/* Expects the output of --metric-only for two CPUs' counts. */
static void metrics_are(enum stat_kind kind, bool has_time, const char *wanted)
{
	static const struct sp_stat_event events[] = {
		{.name = "cycles", .unit = "", .scale = 1, .type = PERF_TYPE_HARDWARE,
		 .config = PERF_COUNT_HW_CPU_CYCLES, .supported = true},
		{.name = "instructions", .unit = "", .scale = 1, .type = PERF_TYPE_HARDWARE,
		 .config = PERF_COUNT_HW_INSTRUCTIONS, .supported = true},
		{.name = "branches", .unit = "", .scale = 1, .type = PERF_TYPE_HARDWARE,
		 .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS, .supported = true},
		{.name = "branch-misses:u", .unit = "", .scale = 1, .type = PERF_TYPE_HARDWARE,
		 .config = PERF_COUNT_HW_BRANCH_MISSES, .supported = true},
	};
	static const double values[] = {1000, 1500, 200, 5, 400, 100, 50, 25};
	static const struct sp_stat_place places[] = {{.cpu = 0}, {.cpu = 1}};
	static const struct sp_stat_event *const event_of[] = {&events[0], &events[1], &events[2],
							       &events[3]};
	static const struct sp_stat_place *const place_of[] = {&places[0], &places[1]};
	struct sp_stat_row counted[8];
	const struct sp_stat_row *row_of[8];
	for (size_t i = 0; i < 8; i++) {
		counted[i] = (struct sp_stat_row){.counted = true, .value = values[i], .enabled_ns = 10,
					       .running_ns = 10};
		row_of[i] = &counted[i];
	}
	const struct stat_table table = {
		.events = event_of, .event_count = 4, .places = place_of, .place_count = 2,
		.rows = row_of,
		.elapsed_ns = 1e9, .has_time = has_time, .time_ns = 2e9};
	char *text = NULL;
	size_t size;
	const struct stat_style style = {
		.out = open_memstream(&text, &size), .kind = kind, .separator = ";",
		.aggregate = SP_STAT_CPU, .metric_only = true};
	stat_put_columns(&style, &table);
	stat_put_table(&style, &table);
	fclose(style.out);
	ck_assert_str_eq(text, wanted);
	ck_assert(stat_has_metrics(&table));
	free(text);
}

TEST(output_metrics_alone_are_a_line_for_each_place)
{
	metrics_are(STAT_TEXT, false,
		    "                 insn per cycle branch-misses:u of all branches\n"
		    "CPU0                      1.50                            2.50%\n"
		    "CPU1                      0.25                           50.00%\n");
	metrics_are(STAT_TEXT, true,
		    "#           time                  insn per cycle "
		    "branch-misses:u of all branches\n"
		    "     2.000000000 CPU0                      1.50 "
		    "                           2.50%\n"
		    "     2.000000000 CPU1                      0.25 "
		    "                          50.00%\n");
	metrics_are(STAT_CSV, false,
		    "cpu;insn per cycle;branch-misses:u of all branches;\n"
		    "CPU0;1.50;2.50;\nCPU1;0.25;50.00;\n");
	metrics_are(STAT_CSV, true,
		    "time;cpu;insn per cycle;branch-misses:u of all branches;\n"
		    "     2.000000000;CPU0;1.50;2.50;\n     2.000000000;CPU1;0.25;50.00;\n");
	metrics_are(STAT_JSON, false,
		    "{\"cpu\" : \"0\", \"insn per cycle\" : \"1.50\", "
		    "\"branch-misses:u of all branches\" : \"2.50\"}\n"
		    "{\"cpu\" : \"1\", \"insn per cycle\" : \"0.25\", "
		    "\"branch-misses:u of all branches\" : \"50.00\"}\n");
}
