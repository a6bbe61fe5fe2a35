/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line options as a table: one line an option gives its names, its argument, where the value is
 * stored, and its help. Long options are `--name VALUE`, `--name=VALUE`, or an unambiguous prefix of
 * the name; short ones `-xVALUE`, `-x VALUE`, or several flags in one word.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sprof/analysis.h>
#include "list.h"

struct option;

/*
 * Parses `text` (NULL: optional argument omitted) and stores the value in option->value. Returns false
 * after printing an error, preferably by option_reject().
 */
typedef bool option_parse_fn(const struct option *option, const char *text);

struct option {
	char letter;          /* option's letter; 0: none */
	const char *name;     /* long name without dashes; NULL: none */
	const char *argument; /* argument's name in the help; NULL: takes none */
	const char *help;     /* wrapped to lines; a newline in it counts as a blank */
	void *value;
	size_t size;          /* bytes of *value, for the parsers of words and numbers */
	uint64_t number;      /* value to set, bits to add, first word's value, or largest number */
	const char *wanted;   /* valid arguments: "auto, cpu or task", "a priority, 1 to 99" */
	option_parse_fn *parse;
	bool optional;        /* the argument may be left out at the end or before another option */
	bool attached;        /* an optional argument must be attached: -zN, --name=N */
	bool negatable;       /* --no-NAME calls `negate` */
	bool both;            /* the help shows the option as --[no-]NAME */
	bool rare;            /* --help-all shows it, --help does not */
};

/* Returns the pointer after a compile-time check of its type. */
#define OPTION_TYPED(pointer, type) (1 ? (pointer) : (type)NULL)

/* The macros below accept further members of struct option as last arguments: `.rare = true`. */

/* Option that sets a bool; --no-NAME resets it. */
#define OPTION_FLAG(letter_, name_, value_, help_, ...)                                     \
	{.letter = (letter_), .name = (name_), .help = (help_),                             \
	 .value = OPTION_TYPED(value_, bool *), .parse = option_parse_flag, .negatable = true, \
	 __VA_ARGS__}

/* Option that sets an enum sp_choice to SP_OFF; --no-NAME restores the default. */
#define OPTION_OFF(letter_, name_, value_, help_, ...)                                      \
	{.letter = (letter_), .name = (name_), .help = (help_),                             \
	 .value = OPTION_TYPED(value_, enum sp_choice *), .parse = option_parse_off,        \
	 .negatable = true, __VA_ARGS__}

/* Option that sets an int: 1 by --NAME, 0 by --no-NAME. The caller initializes it to -1 (not given). */
#define OPTION_CHOICE(letter_, name_, value_, help_, ...)                                   \
	{.letter = (letter_), .name = (name_), .help = (help_),                             \
	 .value = OPTION_TYPED(value_, int *), .parse = option_parse_choice,                \
	 .negatable = true, .both = true, __VA_ARGS__}

/* Option with a string, which points into argv. */
#define OPTION_STRING(letter_, name_, argument_, value_, help_, ...)                        \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, const char **), .parse = option_parse_string, __VA_ARGS__}

/* Option with a uint64_t, decimal or 0x. */
#define OPTION_NUMBER(letter_, name_, argument_, value_, help_, ...)                        \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, uint64_t *), .parse = option_parse_number, __VA_ARGS__}

/* Option with a list of strings: "a,b". If repeated, the lists are joined. */
#define OPTION_STRINGS(letter_, name_, argument_, value_, help_, ...)                       \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, struct option_strings *), .parse = option_parse_strings, \
	 __VA_ARGS__}

/*
 * Option with a list of numbers, separated by commas or blanks: "1,4-7", "1 4". If repeated, the
 * lists are joined.
 */
#define OPTION_NUMBERS(letter_, name_, argument_, value_, help_, ...)                       \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = OPTION_TYPED(value_, struct option_numbers *), .parse = option_parse_numbers, \
	 __VA_ARGS__}

/* Option that stores a constant in an enum or number. */
#define OPTION_SET(letter_, name_, value_, number_, help_, ...)                             \
	{.letter = (letter_), .name = (name_), .help = (help_), .value = (value_),          \
	 .size = sizeof(*(value_)), .number = (number_), .parse = option_parse_set, __VA_ARGS__}

/* Option that adds bits to a uint64_t. */
#define OPTION_BITS(letter_, name_, value_, bits_, help_, ...)                              \
	{.letter = (letter_), .name = (name_), .help = (help_),                             \
	 .value = OPTION_TYPED(value_, uint64_t *), .number = (bits_),                      \
	 .parse = option_parse_bits, __VA_ARGS__}

/*
 * Option with one of the words in `words_`, "auto, cpu or task". Stores the word's position, from
 * 0, in a bool or an enum; `.number` is added to it.
 */
#define OPTION_WORD(letter_, name_, argument_, value_, words_, help_, ...)                  \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .size = sizeof(*(value_)), .wanted = (words_),                  \
	 .parse = option_parse_word, __VA_ARGS__}

/* Option with a number from 1 to `most_`; an optional argument that is left out is 1. */
#define OPTION_UP_TO(letter_, name_, argument_, value_, most_, wanted_, help_, ...)         \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .size = sizeof(*(value_)), .number = (most_),                   \
	 .wanted = (wanted_), .parse = option_parse_up_to, __VA_ARGS__}

/*
 * Option of any other type, parsed by the command's function `parse`. Takes no argument if `argument_`
 * is NULL.
 */
#define OPTION_CALL(letter_, name_, argument_, value_, parse_, help_, ...)                  \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .parse = (parse_), __VA_ARGS__}

/* Option like OPTION_CALL, with an optional argument. */
#define OPTION_CALL_OPTIONAL(letter_, name_, argument_, value_, parse_, help_, ...)         \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .parse = (parse_), .optional = true, __VA_ARGS__}

/* Option like OPTION_CALL, with an optional argument that must be attached: -xVALUE, --name=VALUE. */
#define OPTION_CALL_ATTACHED(letter_, name_, argument_, value_, parse_, help_, ...)         \
	{.letter = (letter_), .name = (name_), .argument = (argument_), .help = (help_),    \
	 .value = (value_), .parse = (parse_), .optional = true, .attached = true, __VA_ARGS__}

/* Heading in the help; the following options belong to it. */
#define OPTION_GROUP(heading_) {.help = (heading_)}

#define OPTION_END {0}

option_parse_fn option_parse_flag, option_parse_off, option_parse_choice, option_parse_set,
	option_parse_bits, option_parse_word, option_parse_up_to, option_parse_string,
	option_parse_number, option_parse_percent, option_parse_strings, option_parse_numbers;

/* option_parse_percent() is for OPTION_CALL with a double: "2" and "2%" are 0.02. */

/* List of strings. Items are copies, freed by option_strings_deinit(). */
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
 * Adds the items of "a,b" to the list. A comma within brackets is part of a name: "f(int, int),g" has
 * two items, and so has "map<int,int>::find,g".
 */
void option_strings_add(struct option_strings *strings, const char *text);

/* Returns whether the list has the text. */
bool option_strings_has(const struct option_strings *strings, const char *text);

/* Adds `size` bytes of `text` as one item. */
void option_strings_push(struct option_strings *strings, const char *text, size_t size);

/* Parses all of `text` as a number from `low` to `high`. Returns false if it is none. */
bool option_text_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret);

/*
 * Parses a number from 0 to 100 at the start of the text. *ret is the number divided by 100, *end_ret
 * the rest of the text.
 */
bool option_text_percent(const char *text, char **end_ret, double *ret);

/* Parses seconds up to `end` ("12", "12.5", "12.000000001") to exact nanoseconds. */
bool option_text_seconds(const char *text, const char *end, uint64_t *ret);

/* Prints "-x, --name: 'TEXT' is not WANTED" and returns false. */
bool option_reject(const struct option *option, const char *text, const char *wanted);

/*
 * Returns whether a word that must not be one is a recording's path: a regular file that begins so,
 * in either byte order. Prints its use then, such as "use -i" or a command.
 */
bool options_reject_recording(const char *path, const char *use);

/* Stores a mode from the first one up to `last` as an int. */
bool option_store_mode(const struct option *option, const char *text, enum sp_mode last);

/*
 * Option table that is put together from groups of options (arrays without OPTION_END). Zeroed: empty.
 */
struct option_table {
	struct option items[128]; /* the last item is always OPTION_END */
	size_t count;
};

void option_table_add(struct option_table *table, const struct option *options, size_t count);
#define OPTION_TABLE_ADD(table, group)                                                      \
	option_table_add(table, group, sizeof(group) / sizeof(*(group)))

/*
 * Option of perf that sprof does not support, with the reason or a replacement. The help does not show
 * it.
 */
struct option_refusal {
	char letter;      /* option's letter; 0: none */
	const char *name; /* long name; NULL: end of the array */
	const char *why;
};

/* Options and help of a command. */
struct option_usage {
	const char *const *synopses; /* usage: "sprof record [OPTION]... [--] COMMAND"; NULL-terminated */
	const char *about;           /* a sentence or two printed after the synopses */
	const char *example;         /* a command that most users need, or NULL */
	const struct option *options; /* ended by OPTION_END */
	const char *footer;          /* text below all options, or NULL */
	const struct option_refusal *refusals; /* options of perf that are rejected, or NULL */
	bool stop_at_operand;        /* words after the first operand are not parsed */
};

/*
 * Parses argv[1] to argv[argc - 1]. Operands are moved after the options and keep their order;
 * *operands is the index of the first operand (argc if there is none). Returns -1 to continue, or the
 * exit status: 0 after printing the help, EXIT_USAGE after printing an error.
 */
int options_parse(const struct option_usage *usage, int argc, char **argv, int *operands);

/*
 * Prints the usage, an example and the options in their groups. Without `all`, leaves out rare
 * options if the table has more than 25 options.
 */
void options_help(const struct option_usage *usage, bool all, FILE *out);

#endif
