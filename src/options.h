/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line options as a table: one line an option gives its names, its
 * argument, where the value goes, and its help. Long options are taken as
 * `--name VALUE`, `--name=VALUE`, or by an unambiguous beginning of the name;
 * short ones as `-xVALUE`, `-x VALUE`, or several flags in one word.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/analysis.h>
#include "list.h"

struct option;

/*
 * Puts what `text` says (NULL: the option was given without its optional
 * argument) to option->value. Returns false after saying what is wrong, best by
 * option_reject().
 */
typedef bool option_parse_fn(const struct option *option, const char *text);

struct option {
	char letter;          /* 0: none */
	const char *name;     /* without dashes; NULL: none */
	const char *argument; /* its name in the help; NULL: takes none */
	const char *help;     /* filled to lines; a newline in it is a blank */
	void *value;
	option_parse_fn *parse;
	bool optional;        /* the argument may be left out at the end or before another option */
	bool attached;        /* an optional one must be attached: -zN, --name=N */
	bool negatable;       /* --no-NAME calls `negate` */
	bool both;            /* the help shows --[no-]NAME */
	bool rare;            /* --help-all shows it, --help does not */
};

/* The pointer, which the compiler holds to that type. */
#define OPTION_TYPED(pointer, type) (1 ? (pointer) : (type)NULL)

/* Macros accept further members at the end: `.rare = true`. */

/* bool *; --no-NAME resets it. */
#define OPTION_FLAG(letter_, name_, value_, help_, ...)                                     \
	{.letter = (letter_), .name = (name_), .help = (help_),                             \
	 .value = OPTION_TYPED(value_, bool *), .parse = option_parse_flag, .negatable = true, \
	 __VA_ARGS__}

/* enum sp_choice *, off by this option; --no-NAME resets it. */
#define OPTION_OFF(letter_, name_, value_, help_, ...)                                      \
	{.letter = (letter_), .name = (name_), .help = (help_),                             \
	 .value = OPTION_TYPED(value_, enum sp_choice *), .parse = option_parse_off,        \
	 .negatable = true, __VA_ARGS__}

/* int *: 1 by --NAME, 0 by --no-NAME; the caller sets it to -1 for "not said". */
#define OPTION_CHOICE(letter_, name_, value_, help_, ...)                                   \
	{.letter = (letter_), .name = (name_), .help = (help_),                             \
	 .value = OPTION_TYPED(value_, int *), .parse = option_parse_choice,                \
	 .negatable = true, .both = true, __VA_ARGS__}

/* const char **, pointing into argv. */
#define OPTION_STRING(letter_, name_, argument_, value_, help_, ...)                        \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, const char **), .parse = option_parse_string, __VA_ARGS__}

/* uint64_t *, decimal or 0x. */
#define OPTION_NUMBER(letter_, name_, argument_, value_, help_, ...)                        \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, uint64_t *), .parse = option_parse_number, __VA_ARGS__}

/* struct option_strings *: "a,b"; given again, it adds. */
#define OPTION_STRINGS(letter_, name_, argument_, value_, help_, ...)                       \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, struct option_strings *), .parse = option_parse_strings, \
	 __VA_ARGS__}

/* struct option_numbers *: "1,4-7"; given again, it adds. */
#define OPTION_NUMBERS(letter_, name_, argument_, value_, help_, ...)                       \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, struct option_numbers *), .parse = option_parse_numbers, \
	 __VA_ARGS__}

/* Anything else: `parse` is the command's own. Takes no argument where `argument_` is NULL. */
#define OPTION_CALL(letter_, name_, argument_, value_, parse_, help_, ...)                  \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .parse = (parse_), __VA_ARGS__}

/* Like OPTION_CALL, with an optional argument. */
#define OPTION_CALL_OPTIONAL(letter_, name_, argument_, value_, parse_, help_, ...)         \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .parse = (parse_), .optional = true, __VA_ARGS__}

/* Like OPTION_CALL, with an optional argument that is never the next word. */
#define OPTION_CALL_ATTACHED(letter_, name_, argument_, value_, parse_, help_, ...)         \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .parse = (parse_), .optional = true, .attached = true, __VA_ARGS__}

/* A heading in the help. */
#define OPTION_GROUP(heading_) {.help = (heading_)}

#define OPTION_END {0}

option_parse_fn option_parse_flag, option_parse_off, option_parse_choice, option_parse_string,
	option_parse_number, option_parse_strings, option_parse_numbers;

/* The items are copies; both are freed by their deinit. */
struct option_strings {
	LIST(char *);
};

struct option_numbers {
	LIST(int32_t);
};

void option_strings_deinit(struct option_strings *strings);
void option_numbers_deinit(struct option_numbers *numbers);

/* Returns the list for the library; valid as long as `strings`. */
struct sp_string_list option_strings_list(const struct option_strings *strings);
struct sp_number_list option_numbers_list(const struct option_numbers *numbers);

/*
 * Adds the items of "a,b" to the list. A comma within brackets belongs to the
 * name: "f(int, int),g" are two, and so is "map<int,int>::find,g".
 */
bool option_strings_add(struct option_strings *strings, const char *text);

/* Adds these `size` bytes as one; says so and returns false when out of memory. */
bool option_strings_push(struct option_strings *strings, const char *text, size_t size);

/* The whole of `text` as a number between the two; false if it is not. */
bool option_text_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret);

/*
 * Parses a number from 0 to 100 at the begin of the text. *ret is a hundredth of it, *end_ret the
 * rest of the text.
 */
bool option_text_percent(const char *text, char **end_ret, double *ret);

/* "12", "12.5" or "12.000000001" seconds, up to `end`, as nanoseconds; exact. */
bool option_text_seconds(const char *text, const char *end, uint64_t *ret);

/* Says "-x, --name: 'TEXT' is not WANTED" and returns false. */
bool option_reject(const struct option *option, const char *text, const char *wanted);

/* Many options, put together from groups, each a const array without an end. Zeroed: empty. */
struct option_table {
	struct option items[128]; /* the last is always the end */
	size_t count;
};

void option_table_add(struct option_table *table, const struct option *options, size_t count);
#define OPTION_TABLE_ADD(table, group)                                                      \
	option_table_add(table, group, sizeof(group) / sizeof(*(group)))

/* Option of perf that is not supported, with the reason or the replacement. Not in the help. */
struct option_refusal {
	char letter;      /* 0: none */
	const char *name; /* NULL: the end */
	const char *why;
};

/* Arguments that a command takes. */
struct option_usage {
	const char *const *synopses; /* "sprof record [OPTION]... [--] COMMAND"; NULL-terminated */
	const char *about;           /* a sentence or two below them */
	const char *example;         /* a command that most users need, or NULL */
	const struct option *options; /* until OPTION_END */
	const char *footer;          /* text below all options, or NULL */
	const struct option_refusal *refusals; /* or NULL */
	bool stop_at_operand;        /* words after the first operand are not parsed */
};

/*
 * Reads argv[1] to argv[argc - 1]. Operands are moved behind the options, in
 * their order; *operands is the index of the first (argc if there is none).
 * Returns -1 to go on, or the exit status to end with, all being said: 0 after
 * --help and --help-all, EXIT_USAGE after a mistake.
 */
int options_parse(const struct option_usage *usage, int argc, char **argv, int *operands);

#endif
