/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "test.h"

struct given {
	bool flag, other;
	int children;
	const char *input, *call;
	uint64_t number;
	struct option_strings names;
	struct option_numbers cpus;
	bool called;
};

static bool parse_call(const struct option *option, const char *text)
{
	struct given *given = option->value;
	given->called = true;
	given->call = text;
	return true;
}

/* Reads the words, the last being NULL; they are left permuted. */
static int parse(struct given *given, bool stop, char **words, int *operands)
{
	const struct option table[] = {
		OPTION_GROUP("All"),
		OPTION_FLAG('q', "quiet", &given->flag, "say less"),
		OPTION_FLAG('x', NULL, &given->other, "no long name"),
		OPTION_CHOICE(0, "children", &given->children, "with those they called"),
		OPTION_STRING('i', "input", "FILE", &given->input, "read FILE"),
		OPTION_NUMBER('n', "number", "N", &given->number, "a number"),
		OPTION_STRINGS(0, "names", "NAMES", &given->names, "names"),
		OPTION_NUMBERS('C', "cpu", "CPUS", &given->cpus, "processors"),
		OPTION_CALL_OPTIONAL('g', "call-graph", "ORDER", given, parse_call, "the tree"),
		OPTION_END,
	};
	const char *const synopses[] = {"sprof test [OPTION]...", NULL};
	const struct option_usage usage = {.synopses = synopses, .about = "Tests.",
					   .options = table, .stop_at_operand = stop};
	int argc = 0;
	while (words[argc])
		argc++;
	return options_parse(&usage, argc, words, operands);
}

#define PARSE(given, stop, ...)                                                \
	char *words[] = {(char[]){"test"}, __VA_ARGS__, NULL};                \
	int operands = -1;                                                    \
	int status = parse(given, stop, words, &operands)

#define W(text) ((char[]){text})

TEST(options_long_and_short_take_values_in_each_form)
{
	struct given given = {.children = -1};
	PARSE(&given, false, W("--input=a"), W("-qx"), W("-n0x10"), W("--no-children"), W("-C"),
	      W("0,4-6"));
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(operands, 7);
	ck_assert_str_eq(given.input, "a");
	ck_assert(given.flag && given.other);
	ck_assert_int_eq(given.children, 0);
	ck_assert_uint_eq(given.number, 16);
	ck_assert_uint_eq(given.cpus.count, 4);
	ck_assert_int_eq(given.cpus.items[3], 6);
	option_numbers_deinit(&given.cpus);
}

TEST(options_operands_are_moved_behind_in_their_order)
{
	struct given given = {0};
	PARSE(&given, false, W("one"), W("-q"), W("two"), W("-i"), W("-"), W("three"), W("--"),
	      W("-x"));
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(operands, 5);
	ck_assert_str_eq(words[5], "one");
	ck_assert_str_eq(words[6], "two");
	ck_assert_str_eq(words[7], "three");
	ck_assert_str_eq(words[8], "-x");
	ck_assert_str_eq(given.input, "-");
	ck_assert(!given.other);
}

TEST(options_stop_at_the_command_that_is_to_run)
{
	struct given given = {0};
	PARSE(&given, true, W("-q"), W("ls"), W("-i"), W("x"));
	ck_assert_int_eq(status, -1);
	ck_assert_int_eq(operands, 2);
	ck_assert(given.flag);
	ck_assert_ptr_null(given.input);
}

TEST(options_long_names_may_be_shortened_while_they_are_unique)
{
	struct given given = {.children = -1};
	PARSE(&given, false, W("--inp"), W("f"), W("--ch"), W("--no-q"), W("--number"), W("3"));
	ck_assert_int_eq(status, -1);
	ck_assert_str_eq(given.input, "f");
	ck_assert_int_eq(given.children, 1);
	ck_assert(!given.flag);
	/* "n" begins number, names, no-children and no-quiet */
	struct given other = {0};
	char *twice[] = {W("test"), W("--n"), NULL};
	ck_assert_int_eq(parse(&other, false, twice, &operands), EXIT_USAGE);
}

TEST(options_an_optional_argument_is_left_out_before_an_option_or_the_end)
{
	struct given given = {.call = "none"};
	PARSE(&given, false, W("-g"), W("-q"));
	ck_assert_int_eq(status, -1);
	ck_assert(given.called && given.flag);
	ck_assert_ptr_null(given.call);
	char *taken[] = {W("test"), W("-g"), W("caller"), NULL};
	ck_assert_int_eq(parse(&given, false, taken, &operands), -1);
	ck_assert_str_eq(given.call, "caller");
	char *attached[] = {W("test"), W("--call-graph=callee"), NULL};
	ck_assert_int_eq(parse(&given, false, attached, &operands), -1);
	ck_assert_str_eq(given.call, "callee");
}

TEST(options_commas_within_brackets_belong_to_the_name)
{
	struct option_strings names = {0};
	option_strings_add(&names, "f(int, int),std::map<int,int>::find,,g");
	option_strings_add(&names, "operator<(A, B)");
	ck_assert_uint_eq(names.count, 4);
	ck_assert_str_eq(names.items[0], "f(int, int)");
	ck_assert_str_eq(names.items[1], "std::map<int,int>::find");
	ck_assert_str_eq(names.items[2], "g");
	ck_assert_str_eq(names.items[3], "operator<(A, B)");
	option_strings_deinit(&names);
}

TEST(options_that_are_perfs_alone_are_refused_by_the_reason)
{
	static const struct option_refusal refusals[] = {
		{'B', "nu", "take -n"}, {0, "n", "short"}, {0, NULL, NULL}};
	static const char *const synopses[] = {"sprof test [OPTION]...", NULL};
	uint64_t number = 0;
	const struct option table[] = {
		OPTION_NUMBER(0, "number", "N", &number, "a number"), OPTION_END};
	const struct option_usage usage = {
		.synopses = synopses, .about = "Tests.", .options = table, .refusals = refusals};
	static const struct {
		const char *word;
		int status;
	} cases[] = {
		{"--nu", EXIT_USAGE},    /* and not the beginning of --number */
		{"--nu=3", EXIT_USAGE}, {"-B", EXIT_USAGE},
		{"--num=3", -1},         /* still a valid number */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char program[] = "test", word[16];
		snprintf(word, sizeof(word), "%s", cases[i].word);
		char *argv[] = {program, word, NULL};
		int operands;
		ck_assert_msg(options_parse(&usage, 2, argv, &operands) == cases[i].status, "%s", word);
	}
	ck_assert_uint_eq(number, 3);
}

TEST(options_mistakes_end_with_129)
{
	static const char *const wrong[][3] = {
		{"--nothing"}, {"-Z"},         {"--input"},   {"--quiet=1"},  {"-n", "1x"},
		{"-n", "-1"},  {"-n", " 1"},   {"-C", "3-1"}, {"-C", "a"},    {"-C", ""},
		{"-C", "1,"},  {"-C", "0-99999999"},          {"-C", "99999999999"},
		{"--names", ","},              {"-n", "99999999999999999999"},
		{"--no-input", "x"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct given given = {0};
		char first[32], second[32];
		char *words[] = {W("test"), first, second, NULL};
		int operands;
		strcpy(first, wrong[i][0]);
		strcpy(second, wrong[i][1] ? wrong[i][1] : "");
		if (!wrong[i][1])
			words[2] = NULL;
		ck_assert_int_eq(parse(&given, false, words, &operands), EXIT_USAGE);
		option_strings_deinit(&given.names);
		option_numbers_deinit(&given.cpus);
	}
}

#define HELP_OPTIONS 30

/* Help of a table with `rare` rare options among HELP_OPTIONS; to be freed. */
static char *help_text(size_t rare, bool all)
{
	static const char *const synopses[] = {"sprof test [OPTION]...", "sprof test -i FILE", NULL};
	struct option table[HELP_OPTIONS + 4] = {OPTION_GROUP("Common:")};
	static char names[HELP_OPTIONS][16];
	bool value;
	size_t used = 1;
	for (size_t i = 0; i < HELP_OPTIONS; i++) {
		bool is_rare = i >= HELP_OPTIONS - rare;
		if (is_rare && i == HELP_OPTIONS - rare)
			table[used++] = (struct option)OPTION_GROUP("Rare:");
		snprintf(names[i], sizeof(names[i]), "option-%zu-", i);
		table[used++] = (struct option)OPTION_FLAG(
			0, names[i], &value, "print a description of two\nlines that must be "
			"filled to eighty columns at most", .rare = is_rare);
	}
	const struct option_usage usage = {.synopses = synopses, .about = "Tests.", .options = table,
					   .example = "sprof test -i file", .footer = "The footer."};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	ck_assert(out != NULL);
	options_help(&usage, all, out);
	fclose(out);
	return text;
}

static size_t help_option_count(const char *text)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, "--option-")); at++)
		count++;
	return count;
}

TEST(options_help_lists_common_options_and_help_all_each_option)
{
	char *text = help_text(10, false);
	ck_assert_uint_eq(help_option_count(text), HELP_OPTIONS - 10);
	ck_assert(strstr(text, "Common:") && !strstr(text, "Rare:"));
	ck_assert(strstr(text, "Example: sprof test -i file\n"));
	ck_assert(!strstr(text, "The footer.") && !strstr(text, "or: "));
	ck_assert(strstr(text, "\n--help-all lists all 31 options.\n"));
	free(text);
	text = help_text(10, true);
	ck_assert_uint_eq(help_option_count(text), HELP_OPTIONS);
	ck_assert(strstr(text, "Rare:") && strstr(text, "The footer.") && strstr(text, "or: "));
	ck_assert(!strstr(text, "--help-all"));
	free(text);
}

TEST(options_help_without_rare_options_lists_each_option)
{
	char *text = help_text(0, false);
	ck_assert_uint_eq(help_option_count(text), HELP_OPTIONS);
	ck_assert(!strstr(text, "--help-all"));
	free(text);
}

TEST(options_help_fills_lines_to_eighty_columns)
{
	char *text = help_text(0, false), *rest = text, *line;
	size_t longest = 0;
	while ((line = strsep(&rest, "\n")))
		if (strlen(line) > longest)
			longest = strlen(line);
	ck_assert_msg(longest > 70 && longest <= 80, "%zu", longest);
	free(text);
	text = help_text(0, true);
	ck_assert(strstr(text, "      --option-0-             print a description of two lines that must be"
			       "\n                              filled to eighty columns at most\n"));
	free(text);
}
