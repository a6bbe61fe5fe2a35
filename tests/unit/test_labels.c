/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Labels of frames: rows and nodes, with sources made up for the purpose. */
#include "frames/function_identity.h"
#include "frames/labels.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sprof/private/command.h>
#include <sprof/ctx.h>
#include "files.h"
#include "profile/cycles.h"
#include "test.h"

/*
 * The program: at 0x10 helper() of help.h is inlined in run() of run.c, which begins at 0;
 * at 0x20 run() itself; at 0x30 helper() in middle() in run(); at 0x40 helper() has code
 * of its own; at 0x50 another helper(), of other.c; 0x60 is unknown; at 0x70 is run()
 * once more, by lines of run.y.
 */
static const struct source_frame run_at_10 = {
	.name = "run", .raw_name = "run", .file = "/s/run.c", .line = 10, .start = 0, .number = 0,
};
static const struct source_frame run_at_12 = {
	.name = "run", .raw_name = "run", .file = "/s/run.c", .line = 12, .start = 0, .number = 1,
};
static const struct source_frame middle_at_7 = {
	.name = "middle", .raw_name = "middle", .file = "/s/run.c", .line = 7, .start = 0x28,
	.caller = &run_at_12, .number = 2,
};
static const struct source_frame places[] = {
	{.name = "helper", .raw_name = "helper", .file = "/s/help.h", .line = 3, .start = 0x8,
	 .caller = &run_at_10, .number = 3},
	{.name = "run", .raw_name = "run", .file = "/s/run.c", .line = 11, .start = 0, .number = 4},
	{.name = "helper", .raw_name = "helper", .file = "/s/help.h", .line = 4, .start = 0x28,
	 .caller = &middle_at_7, .number = 5},
	{.name = "helper", .raw_name = "helper", .file = "/s/help.h", .line = 3, .start = 0x40,
	 .number = 6},
	{.name = "helper", .raw_name = "helper", .file = "/s/other.c", .line = 9, .start = 0x50,
	 .number = 7},
	{.name = "run", .raw_name = "run", .file = "/s/run.y", .line = 70, .start = 0, .number = 8},
};

static const struct source_frame *const known[] = {
	NULL, &places[0], &places[1], &places[2], &places[3], &places[4], NULL, &places[5],
};

struct fixture {
	struct sp_ctx *ctx;
	struct machine *machine;
	struct resolver *resolver;
	struct analysis_options options;
	struct names names;
	struct labels labels;
	struct functions rows, nodes;
	bool keys[SP_KEY_LIMIT];
	int asked; /* how often */
};

static bool has(void *arg, const struct module *module, uint32_t pid)
{
	(void)arg, (void)pid;
	return !strcmp(module->name, "program");
}

static struct sp_error *find(void *arg, const struct source_query *query, struct source_frames *ret)
{
	struct fixture *fixture = arg;
	const uint64_t *offsets = query->offsets;
	ck_assert_str_eq(query->module->name, "program");
	ck_assert_uint_eq(query->pid, 1);
	ck_assert_uint_ge(query->threads, 1);
	for (size_t i = 0; i < query->count; i++) {
		ck_assert(!i || offsets[i] > offsets[i - 1]);
		ret->items[i] = known[offsets[i] / 0x10];
	}
	ret->distinct = 9;
	fixture->asked++;
	return NULL;
}

static void map(struct machine *machine, uint64_t start, const char *path)
{
	struct sp_record record = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
		.mmap = {.pid = 1, .tid = 1, .start = start, .size = 0x10000, .filename = path,
			 .prot = PROT_READ | PROT_EXEC},
	};
	ok_or_fail(machine_add(machine, &record));
}

static void start(struct fixture *fixture)
{
	struct resolver_options options = {0};
	ok_or_fail(sp_ctx_new(&fixture->ctx));
	ok_or_fail(machine_new(&fixture->machine));
	map(fixture->machine, 0x10000, "/nowhere/program");
	map(fixture->machine, 0x30000, "/nowhere/library");
	ok_or_fail(machine_seal(fixture->machine));
	ok_or_fail(resolver_new(fixture->ctx, &options, &fixture->resolver));
	const struct source_finder finder = {has, find, fixture};
	ok_or_fail(names_init(&fixture->names, fixture->machine, fixture->resolver, &finder,
			      &fixture->options));
}

static uint32_t answer(struct fixture *fixture, uint64_t ip, bool caller)
{
	struct code_address address = {ip, machine_view(fixture->machine, 1, 0), PERF_RECORD_MISC_USER,
				       caller};
	uint32_t answer = names_resolve_address(&fixture->names, &address);
	ck_assert_uint_ne(answer, ANSWER_FAILED);
	return answer;
}

static uint32_t frame(struct fixture *fixture, uint64_t ip, bool caller)
{
	return answer(fixture, ip, caller) >> ANSWER_SHIFT;
}

static void make(struct fixture *fixture, struct label_options options)
{
	options.keys = fixture->keys;
	options.threads = 3;
	ok_or_fail(labels_make(&fixture->labels, &fixture->names, &options, &fixture->rows,
			       &fixture->nodes));
	ck_assert_uint_eq(fixture->labels.frames.count, fixture->names.frames.count);
}

static void stop(struct fixture *fixture)
{
	labels_deinit(&fixture->labels);
	functions_deinit(&fixture->rows);
	functions_deinit(&fixture->nodes);
	names_deinit(&fixture->names);
	resolver_free(fixture->resolver);
	machine_free(fixture->machine);
	sp_ctx_free(fixture->ctx);
}

static const struct function *row(const struct fixture *fixture, uint32_t frame, uint32_t index)
{
	const struct frame_labels *of = &fixture->labels.frames.items[frame];
	ck_assert_uint_lt(index, of->count);
	return &fixture->rows.items[fixture->labels.items.items[of->first + index].row];
}

/* The frame's labels, the outermost first, as "run;helper". */
static void functions_are(const struct fixture *fixture, uint32_t frame, const char *wanted)
{
	char text[200] = "";
	for (uint32_t i = 0; i < fixture->labels.frames.items[frame].count; i++) {
		const struct function *function = row(fixture, frame, i);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? ";" : "",
			 function_name(function));
		if (function->line)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), ":%u",
				 function->line);
	}
	ck_assert_str_eq(text, wanted);
}

TEST(each_place_has_its_functions_the_outermost_first)
{
	struct fixture fixture = {.keys = {[SP_KEY_FUNCTION] = true}};
	start(&fixture);
	uint32_t at10 = frame(&fixture, 0x10010, false);
	uint32_t at20 = frame(&fixture, 0x10021, true); /* returns to behind the call */
	uint32_t at30 = frame(&fixture, 0x10030, false);
	uint32_t at60 = frame(&fixture, 0x10060, false);
	uint32_t library = frame(&fixture, 0x30010, false);
	/* The return address is shown, since it has no symbol: another frame, of the same place. */
	uint32_t exact20 = frame(&fixture, 0x10020, false);
	ck_assert_uint_ne(exact20, at20);
	ck_assert_uint_eq(frame(&fixture, 0x10010, false), at10);
	make(&fixture, (struct label_options){.expand = true});
	ck_assert_int_eq(fixture.asked, 1);
	functions_are(&fixture, at10, "run;helper");
	functions_are(&fixture, at20, "run");
	functions_are(&fixture, exact20, "run");
	functions_are(&fixture, at30, "run;middle;helper");
	functions_are(&fixture, at60, "0x60");
	functions_are(&fixture, library, "0x10");
	ck_assert(row(&fixture, at10, 1)->inlined && !row(&fixture, at10, 0)->inlined);
	ck_assert(fixture.labels.frames.items[at10].named);
	ck_assert(!fixture.labels.frames.items[at60].named && !row(&fixture, at60, 0)->known);
	ck_assert_uint_eq(fixture.labels.items.items[0].node, UINT32_MAX);
	stop(&fixture);
}

TEST(one_function_is_one_row_and_others_of_its_name_are_not)
{
	struct fixture fixture = {.keys = {[SP_KEY_FUNCTION] = true, [SP_KEY_DSO] = true}};
	start(&fixture);
	uint32_t at10 = frame(&fixture, 0x10010, false);
	uint32_t at30 = frame(&fixture, 0x10030, false);
	uint32_t at40 = frame(&fixture, 0x10040, false);
	uint32_t at50 = frame(&fixture, 0x10050, false);
	uint32_t at70 = frame(&fixture, 0x10070, false);
	make(&fixture, (struct label_options){.expand = true, .tree = true});
	const struct function *helper = row(&fixture, at10, 1);
	ck_assert_ptr_eq(row(&fixture, at30, 2), helper);
	ck_assert_ptr_eq(row(&fixture, at40, 0), helper);
	ck_assert_uint_eq(helper->start, 0x40);
	ck_assert(!helper->inlined && helper->known);
	ck_assert_str_eq(helper->dso, "program");
	/* Another static function; and one with lines in two files. */
	ck_assert_ptr_ne(row(&fixture, at50, 0), helper);
	ck_assert_ptr_eq(row(&fixture, at70, 0), row(&fixture, at10, 0));
	/* A tree tells what was inlined from what was called. */
	const struct frame_labels *of = fixture.labels.frames.items;
	const struct label *labels = fixture.labels.items.items;
	uint32_t inlined = labels[of[at10].first + 1].node;
	ck_assert_uint_eq(labels[of[at30].first + 2].node, inlined);
	ck_assert_uint_ne(labels[of[at40].first].node, inlined);
	ck_assert(fixture.nodes.items[inlined].inlined);
	ck_assert(!fixture.nodes.items[labels[of[at40].first].node].inlined);
	stop(&fixture);
}

TEST(instructions_have_their_own_rows_if_requested)
{
	struct fixture fixture = {.keys = {[SP_KEY_FUNCTION] = true, [SP_KEY_SRCLINE] = true}};
	start(&fixture);
	uint32_t at10 = frame(&fixture, 0x10010, false), at14 = frame(&fixture, 0x10014, false);
	uint32_t library = frame(&fixture, 0x30010, false);
	make(&fixture, (struct label_options){.expand = true});
	ck_assert_ptr_eq(row(&fixture, at10, 1), row(&fixture, at14, 1));
	ck_assert_ptr_null(row(&fixture, at10, 1)->instruction);
	labels_deinit(&fixture.labels);
	make(&fixture, (struct label_options){.expand = true, .instructions = true});
	functions_are(&fixture, at10, "run:10;helper:3");
	functions_are(&fixture, at14, "run:10;helper:3");
	ck_assert_ptr_ne(row(&fixture, at10, 1), row(&fixture, at14, 1));
	ck_assert_uint_eq(row(&fixture, at10, 1)->instruction->offset, 0x10);
	ck_assert_uint_eq(row(&fixture, at14, 1)->instruction->offset, 0x14);
	/* The file does not exist, and has no symbol. */
	ck_assert_uint_eq(row(&fixture, at14, 1)->instruction->size, 0);
	ck_assert_ptr_null(row(&fixture, at14, 1)->instruction->symbol);
	ck_assert_ptr_null(row(&fixture, library, 0)->instruction);
	stop(&fixture);
}

TEST(lines_are_of_the_code_and_of_the_calls)
{
	struct fixture fixture = {.keys = {[SP_KEY_SRCLINE] = true}};
	start(&fixture);
	uint32_t at30 = frame(&fixture, 0x10030, false);
	uint32_t at60 = frame(&fixture, 0x10060, false);
	make(&fixture, (struct label_options){.expand = true});
	functions_are(&fixture, at30, "/s/run.c:12;/s/run.c:7;/s/help.h:4");
	functions_are(&fixture, at60, "");
	ck_assert_ptr_null(row(&fixture, at30, 0)->dso);
	stop(&fixture);
}

TEST(without_inlines_lines_are_those_of_the_innermost_code)
{
	struct fixture fixture = {.keys = {[SP_KEY_SRCLINE] = true, [SP_KEY_SYMBOL] = true}};
	struct label_options options = {.tree = true};
	start(&fixture);
	uint32_t at30 = frame(&fixture, 0x10030, false);
	make(&fixture, options);
	functions_are(&fixture, at30, "0x30:4");
	ck_assert_str_eq(fixture.nodes.items[0].symbol, "0x30");
	ck_assert_ptr_null(fixture.nodes.items[0].function);
	stop(&fixture);
}

TEST(debug_information_is_read_where_something_needs_it)
{
	bool keys[SP_KEY_LIMIT] = {[SP_KEY_SYMBOL] = true, [SP_KEY_DSO] = true};
	ck_assert(!labels_need_sources(&(struct label_options){.keys = keys, .expand = true}));
	ck_assert(labels_need_sources(
		&(struct label_options){.keys = keys, .expand = true, .tree = true}));
	ck_assert(!labels_need_sources(&(struct label_options){.keys = keys, .tree = true}));
	ck_assert(labels_need_sources(
		&(struct label_options){.keys = keys, .tree = true, .tree_lines = true}));
	keys[SP_KEY_FUNCTION] = true;
	ck_assert(labels_need_sources(&(struct label_options){.keys = keys, .expand = true}));
	ck_assert(!labels_need_sources(&(struct label_options){.keys = keys}));
	keys[SP_KEY_SRCFILE] = true;
	ck_assert(labels_need_sources(&(struct label_options){.keys = keys}));
}

TEST(a_filter_takes_names_of_functions_too)
{
	static const char *const wanted[] = {"helper", "0x60"};
	struct fixture fixture = {.options = {.filter.symbols = {wanted, 2}},
				  .keys = {[SP_KEY_FUNCTION] = true}};
	start(&fixture);
	uint32_t at10 = answer(&fixture, 0x10010, false), at20 = answer(&fixture, 0x10020, false);
	uint32_t at60 = answer(&fixture, 0x10060, false);
	uint32_t library = answer(&fixture, 0x30060, false);
	ck_assert_uint_eq(at10 & at20 & at60 & ANSWER_PENDING, ANSWER_PENDING);
	ck_assert(!(at10 & ANSWER_SHOWN));
	ck_assert_uint_eq(library & (ANSWER_SHOWN | ANSWER_PENDING), ANSWER_SHOWN);
	make(&fixture, (struct label_options){.expand = true});
	ck_assert(fixture.labels.frames.items[at10 >> ANSWER_SHIFT].shown);
	ck_assert(!fixture.labels.frames.items[at20 >> ANSWER_SHIFT].shown);
	ck_assert(fixture.labels.frames.items[at60 >> ANSWER_SHIFT].shown);
	stop(&fixture);
}

/* In any order, the same pieces are the same bodies. */
TEST(bodies_do_not_depend_on_the_order_of_pieces)
{
	static const char dso[] = "d", f[] = "f", a[] = "/a", b[] = "/b", c[] = "/c", x[] = "x.c",
			  g[] = "g", h[] = "h";
	static const struct function_piece pieces[] = {
		{dso, 0, f, f, f, a, NULL, 0x10, 0}, {dso, 0, f, f, f, b, NULL, 0x10, 0},
		{dso, 0, f, f, f, b, NULL, UINT64_MAX, 0},
		{dso, 0, f, f, f, c, NULL, UINT64_MAX, 0},
		{dso, 0, f, f, NULL, NULL, NULL, 0x10, 0},
		{dso, 0, f, f, NULL, NULL, x, 0x20, 0}, {dso, 0, f, f, f, a, NULL, 0x5, 0},
		/* another overload, declared in another line */
		{dso, 0, f, f, f, a, NULL, UINT64_MAX, 7},
		/* always inlined, in lines of an unknown file */
		{dso, 0, g, g, g, NULL, NULL, UINT64_MAX, 0},
		{dso, 0, h, h, h, NULL, NULL, UINT64_MAX, 0},
	};
	enum { COUNT = sizeof(pieces) / sizeof(*pieces) };
	for (size_t first = 0; first < COUNT; first++) {
		struct identities identities = {0};
		uint32_t of[COUNT];
		for (size_t i = first; i < first + COUNT; i++) {
			of[i % COUNT] = identities_add(&identities, &pieces[i % COUNT]);
			ck_assert_uint_ne(of[i % COUNT], UINT32_MAX);
		}
		struct u64map several = {0};
		ck_assert(identities_place(&identities, &several));
		ck_assert_uint_eq(several.count, 1);
		u64map_deinit(&several);
		const struct identity *identity = identities_find(&identities, of[0]);
		ck_assert_str_eq(identity->home, "/a");
		ck_assert_uint_eq(identity->start, 0x5);
		ck_assert_ptr_eq(identities_find(&identities, of[1]), identity);
		ck_assert_ptr_eq(identities_find(&identities, of[2]), identity);
		ck_assert_ptr_eq(identities_find(&identities, of[4]), identity);
		ck_assert_str_eq(identities_find(&identities, of[3])->home, "/c");
		ck_assert_ptr_null(identities_find(&identities, of[5])->home);
		ck_assert_ptr_eq(identities_find(&identities, of[8])->name, g);
		ck_assert_ptr_eq(identities_find(&identities, of[9])->name, h);
		/* Files suffice to distinguish some of them, the same in each build. */
		static const size_t different[] = {0, 3, 5, 7};
		for (size_t i = 0; i < 4; i++)
			for (size_t j = 0; j < i; j++)
				ck_assert(identities_find(&identities, of[different[i]])->place !=
					  identities_find(&identities, of[different[j]])->place);
		identities_deinit(&identities);
	}
}

/* "abab" to "ab", and where how many rounds of how many calls begin. */
static void collapses(const char *calls, const char *wanted, const char *cycles_wanted)
{
	uint64_t words[100];
	struct cycle cycles[100];
	char text[200] = "", marks[200] = "";
	size_t count = strlen(calls);
	for (size_t i = 0; i < count; i++)
		words[i] = (uint64_t)calls[i];
	count = cycles_collapse(words, count, cycles);
	for (size_t i = 0; i < count; i++) {
		text[i] = (char)words[i];
		if (cycles[i].calls)
			snprintf(marks + strlen(marks), sizeof(marks) - strlen(marks), "%zu:%ux%u ",
				 i, cycles[i].calls, cycles[i].rounds);
	}
	ck_assert_str_eq(text, wanted);
	ck_assert_str_eq(marks, cycles_wanted);
}

TEST(repeated_calls_are_reduced_to_one_round)
{
	collapses("", "", "");
	collapses("mfg", "mfg", "");
	collapses("mffffg", "mfg", "1:1x4 ");
	collapses("mfgfgfgh", "mfgh", "1:2x3 ");
	collapses("mfgfgfh", "mfgfh", "1:2x2 ");
	collapses("abcabcabc", "abc", "0:3x3 ");
	collapses("ffgffg", "fg", "0:2x2 ");
	collapses("abab" "cc" "abab", "abcab", "0:2x2 2:1x2 3:2x2 ");
	collapses("aabbaabb", "ab", "0:2x2 1:1x2 ");
	collapses("abbabbbabb", "ab", "0:2x3 1:1x3 ");
	collapses("aaabab", "ab", "0:1x3 ");
}
