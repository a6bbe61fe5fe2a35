/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the command line by an option table. Like getopt_long(), moves operands after the options: the
 * operands found so far are always the words just before the next word to parse.
 */
#include "options.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "command.h"
#include "diag.h"
#include "memory.h"
#include "nearest.h"
#include "text.h"

/* Help of a command, printed from its option table. */

/* Column where options' descriptions begin. They are wrapped at LINE_END. */
#define HELP_COLUMN 30
#define LINE_END 80

/* Tables of up to this many options are printed completely, rare options included. */
#define SHORT_MAX 25

static bool is_end(const struct option *option)
{
	return !option->help;
}

static bool is_group(const struct option *option)
{
	return !option->letter && !option->name;
}

/*
 * Writes the description, wrapped to lines that begin at HELP_COLUMN. `column`: end of the option's
 * names.
 */
static void put_description(FILE *out, size_t column, const char *help)
{
	bool fits = column + 2 <= HELP_COLUMN;
	size_t at = fits ? column : LINE_END;
	size_t blanks = fits ? HELP_COLUMN - column : 1;
	for (;;) {
		help += strspn(help, " \n");
		size_t size = strcspn(help, " \n");
		if (!size)
			break;
		if (at + blanks + size > LINE_END) {
			fputc('\n', out);
			at = 0;
			blanks = HELP_COLUMN;
		}
		fprintf(out, "%*s%.*s", (int)blanks, "", (int)size, help);
		at += blanks + size;
		blanks = 1;
		help += size;
	}
	fputc('\n', out);
}

static void put_option(FILE *out, const struct option *option)
{
	char title[160], letter[5] = "    ";
	size_t used = 0;
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c%s", option->letter, option->name ? ", " : "");
	used = (size_t)snprintf(title, sizeof(title), "  %s", letter);
	if (option->name)
		used += (size_t)snprintf(title + used, sizeof(title) - used, "--%s%s",
					 option->both ? "[no-]" : "", option->name);
	if (option->argument)
		used += (size_t)snprintf(title + used, sizeof(title) - used,
					 option->attached ? "[=%s]" :
					 option->optional ? " [%s]" : " %s", option->argument);
	fputs(title, out);
	put_description(out, used, option->help);
}

/* Returns whether --help omits rare options. *count_ret: number of options that --help shows. */
static bool is_shortened(const struct option_usage *usage, size_t *count_ret)
{
	size_t rare = 0;
	*count_ret = 1;
	for (const struct option *option = usage->options; !is_end(option); option++) {
		*count_ret += !is_group(option);
		rare += option->rare;
	}
	return rare && *count_ret > SHORT_MAX;
}

/* Prints the options in groups. A group without a shown option gets no heading. */
static void put_options(FILE *out, const struct option *options, bool all)
{
	const struct option *group = NULL;
	if (!is_group(options))
		fputc('\n', out);
	for (const struct option *option = options; !is_end(option); option++) {
		if (is_group(option)) {
			group = option;
			continue;
		}
		if (option->rare && !all)
			continue;
		if (group)
			fprintf(out, "\n%s\n", group->help);
		group = NULL;
		put_option(out, option);
	}
}

static void put_usage(FILE *out, const struct option_usage *usage, bool all)
{
	fprintf(out, "usage: %s\n", usage->synopses[0]);
	for (size_t i = 1; all && usage->synopses[i]; i++)
		fprintf(out, "or:    %s\n", usage->synopses[i]);
	fprintf(out, "\n%s\n", usage->about);
	if (usage->example)
		fprintf(out, "Example: %s\n", usage->example);
}

void options_help(const struct option_usage *usage, bool all, FILE *out)
{
	const struct option help = {.letter = 'h', .name = "help", .help = "print this help"};
	size_t count;
	bool shortened = is_shortened(usage, &count) && !all;
	put_usage(out, usage, !shortened);
	put_options(out, usage->options, !shortened);
	put_option(out, &help);
	if (usage->footer && !shortened)
		fprintf(out, "\n%s\n", usage->footer);
	if (shortened)
		fprintf(out, "\n--help-all lists all %zu options.\n", count);
}

/* Limit of numbers in one list: a larger list is probably a typing error. */
#define MAX_NUMBERS 65536

/* Writes an option's names as the help shows them: "-i, --input". */
static const char *option_title(const struct option *option, char *buffer, size_t size)
{
	if (option->letter && option->name)
		snprintf(buffer, size, "-%c, --%s", option->letter, option->name);
	else if (option->name)
		snprintf(buffer, size, "--%s", option->name);
	else
		snprintf(buffer, size, "-%c", option->letter);
	return buffer;
}

bool option_reject(const struct option *option, const char *text, const char *wanted)
{
	char title[64];
	diag_print("%s: '%s' is not %s", option_title(option, title, sizeof(title)), text, wanted);
	return false;
}

bool option_text_number(const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
	if (*text < '0' || *text > '9')
		return false; /* strtoull() would accept blanks and signs */
	char *end;
	errno = 0;
	uint64_t value = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
	if (errno || *end || end == text || value < low || value > high)
		return false;
	*ret = value;
	return true;
}

bool option_text_percent(const char *text, char **end_ret, double *ret)
{
	*ret = strtod(text, end_ret) / 100;
	return *end_ret != text && isfinite(*ret) && *ret >= 0 && *ret <= 1;
}

bool option_text_seconds(const char *text, const char *end, uint64_t *ret)
{
	uint64_t seconds = 0, ns = 0, unit = 100000000;
	const char *at = text;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(seconds, 10, &seconds) ||
		    __builtin_add_overflow(seconds, (uint64_t)(*at - '0'), &seconds))
			return false;
	if (at == text)
		return false;
	if (at < end && *at == '.')
		for (at++; at < end && *at >= '0' && *at <= '9'; at++, unit /= 10)
			ns += (uint64_t)(*at - '0') * unit;
	return at == end && !__builtin_mul_overflow(seconds, 1000000000, &seconds) &&
	       !__builtin_add_overflow(seconds, ns, ret);
}

bool option_parse_flag(const struct option *option, const char *text)
{
	(void)text;
	*(bool *)option->value = true;
	return true;
}

bool option_parse_off(const struct option *option, const char *text)
{
	(void)text;
	*(enum sp_choice *)option->value = SP_OFF;
	return true;
}

bool option_parse_choice(const struct option *option, const char *text)
{
	(void)text;
	*(int *)option->value = 1;
	return true;
}

static void store(const struct option *option, uint64_t number)
{
	if (option->size == sizeof(bool))
		*(bool *)option->value = number;
	else if (option->size == sizeof(uint32_t))
		*(uint32_t *)option->value = (uint32_t)number;
	else
		*(uint64_t *)option->value = number;
}

bool option_parse_set(const struct option *option, const char *text)
{
	(void)text;
	store(option, option->number);
	return true;
}

bool option_parse_bits(const struct option *option, const char *text)
{
	(void)text;
	*(uint64_t *)option->value |= option->number;
	return true;
}

bool option_parse_word(const struct option *option, const char *text)
{
	const char *word = option->wanted;
	for (uint64_t number = option->number; *word; number++) {
		size_t size = strcspn(word, ", ");
		if (strlen(text) == size && !strncmp(text, word, size)) {
			store(option, number);
			return true;
		}
		word += size;
		word += !strncmp(word, " or ", 4) ? 4 : strspn(word, ", ");
	}
	return option_reject(option, text, option->wanted);
}

bool option_parse_up_to(const struct option *option, const char *text)
{
	uint64_t number = 1;
	if (text && !option_text_number(text, 1, option->number, &number))
		return option_reject(option, text, option->wanted);
	store(option, number);
	return true;
}

static void option_negate(const struct option *option)
{
	if (option->parse == option_parse_choice)
		*(int *)option->value = 0;
	else if (option->parse == option_parse_off)
		*(enum sp_choice *)option->value = SP_DEFAULT;
	else
		*(bool *)option->value = false;
}

bool option_parse_string(const struct option *option, const char *text)
{
	*(const char **)option->value = text;
	return true;
}

bool option_parse_number(const struct option *option, const char *text)
{
	if (option_text_number(text, 0, UINT64_MAX, option->value))
		return true;
	return option_reject(option, text, "a whole number");
}

bool option_parse_percent(const struct option *option, const char *text)
{
	double percent;
	char *end;
	if (!option_text_percent(text, &end, &percent) || (*end && strcmp(end, "%") != 0))
		return option_reject(option, text, "a percentage of 0 to 100");
	*(double *)option->value = percent;
	return true;
}

void option_strings_deinit(struct option_strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->items[i]);
	free(strings->items);
	*strings = (struct option_strings){0};
}

void option_numbers_deinit(struct option_numbers *numbers)
{
	free(numbers->items);
	*numbers = (struct option_numbers){0};
}

struct sp_string_list option_strings_list(const struct option_strings *strings)
{
	return (struct sp_string_list){(const char *const *)strings->items, strings->count};
}

struct sp_number_list option_numbers_list(const struct option_numbers *numbers)
{
	return (struct sp_number_list){numbers->items, numbers->count};
}

/* Returns the end of the item at `text`: its comma, or the terminating NUL. */
static const char *item_end(const char *text)
{
	int depth = 0;
	for (const char *at = text; *at; at++) {
		if (strchr("(<[{", *at))
			depth++;
		else if (strchr(")>]}", *at) && !(*at == '>' && at > text && at[-1] == '-'))
			depth--;
		else if (*at == ',' && depth == 0)
			return at;
	}
	/*
	 * Brackets without a partner belong to the name of an operator: takes the rest of the text as
	 * one item.
	 */
	return text + strlen(text);
}

bool option_strings_has(const struct option_strings *strings, const char *text)
{
	for (size_t i = 0; i < strings->count; i++)
		if (!strcmp(strings->items[i], text))
			return true;
	return false;
}

void option_strings_push(struct option_strings *strings, const char *text, size_t size)
{
	*list_push(strings) = xstrndup(text, size);
}

void option_strings_add(struct option_strings *strings, const char *text)
{
	while (*text) {
		const char *end = item_end(text);
		if (end > text)
			option_strings_push(strings, text, (size_t)(end - text));
		text = *end ? end + 1 : end;
	}
}

bool option_parse_strings(const struct option *option, const char *text)
{
	struct option_strings *strings = option->value;
	size_t before = strings->count;
	option_strings_add(strings, text);
	/*
	 * An empty list would disable the filter, which is surely not what the user wants: rejects it.
	 */
	return strings->count > before || option_reject(option, text, "a list of names");
}

static bool numbers_push(struct option_numbers *numbers, uint64_t first, uint64_t last)
{
	size_t count = last - first + 1;
	if (last - first >= MAX_NUMBERS || numbers->count + count > MAX_NUMBERS)
		return false;
	for (uint64_t number = first; number <= last; number++)
		*list_push(numbers) = (int32_t)number;
	return true;
}

/* Adds an item of a list: a number ("7") or a range ("4-9"). */
static bool numbers_add_item(struct option_numbers *numbers, char *item)
{
	uint64_t first, last;
	char *dash = strchr(item, '-');
	if (dash)
		*dash++ = '\0';
	if (!option_text_number(item, 0, INT32_MAX, &first))
		return false;
	last = first;
	if (dash && !option_text_number(dash, first, INT32_MAX, &last))
		return false;
	return numbers_push(numbers, first, last);
}

bool option_parse_numbers(const struct option *option, const char *text)
{
	const char *wanted =
		option->name && !strcmp(option->name, "pid")
			? "a list of process IDs; -p $(pgrep -d, NAME) has those of a name"
			: "a list of numbers and ranges such as 0,4-7";
	char *copy = xstrdup(text), *rest = copy, *item;
	bool fine = *copy;
	while (fine && (item = strsep(&rest, ", \n")))
		fine = numbers_add_item(option->value, item);
	free(copy);
	return fine || option_reject(option, text, wanted);
}

bool option_store_mode(const struct option *option, const char *text, enum sp_mode last)
{
	char wanted[64];
	size_t size = 0;
	for (enum sp_mode mode = 0; mode <= last; mode++) {
		if (!strcmp(text, sp_mode_name(mode))) {
			*(int *)option->value = (int)mode;
			return true;
		}
		size += (size_t)snprintf(wanted + size, sizeof(wanted) - size, "%s%s",
					 !mode ? "" : mode == last ? " or " : ", ",
					 sp_mode_name(mode));
	}
	return option_reject(option, text, wanted);
}

void option_table_add(struct option_table *table, const struct option *options, size_t count)
{
	assert(table->count + count < sizeof(table->items) / sizeof(*table->items));
	memcpy(table->items + table->count, options, count * sizeof(*options));
	table->count += count;
}

static int usage_mistake(const struct option_usage *usage)
{
	const char *synopsis = *usage->synopses;
	size_t size = strcspn(synopsis, " ");
	if (synopsis[size])
		size += 1 + strcspn(synopsis + size + 1, " ");
	diag_more("'%.*s --help' lists the options.", (int)size, synopsis);
	return EXIT_USAGE;
}

/*
 * Returns false, after printing the reason, if the option is one of perf's that sprof does not support;
 * else true.
 */
static bool is_new(const struct option_usage *usage, char letter, const char *name, size_t size)
{
	const struct option_refusal *refusal = usage->refusals;
	for (; refusal && refusal->name; refusal++) {
		if (letter ? letter != refusal->letter
			   : strncmp(refusal->name, name, size) || refusal->name[size])
			continue;
		const struct option title = {.letter = refusal->letter, .name = refusal->name};
		char buffer[64];
		diag_print("%s is not supported: %s", option_title(&title, buffer, sizeof(buffer)),
			   refusal->why);
		return false;
	}
	return true;
}

/* Prints that the option is unknown, and the nearest option's name. */
static void reject_long(const struct option_usage *usage, const char *name, size_t size)
{
	struct nearest nearest = {.name = NULL}, negated = {.name = NULL};
	bool no = size > 3 && !memcmp(name, "no-", 3);
	for (const struct option *option = usage->options; !is_end(option); option++) {
		if (option->name)
			nearest_add(&nearest, name, size, option->name);
		if (option->name && option->negatable && no)
			nearest_add(&negated, name + 3, size - 3, option->name);
	}
	nearest_add(&nearest, name, size, "help");
	if (nearest.name || negated.name)
		diag_print("unknown option '--%.*s'; did you mean '--%s%s'?", (int)size, name,
			   nearest.name ? "" : "no-", nearest.name ?: negated.name);
	else
		diag_print("unknown option '--%.*s'", (int)size, name);
}

/* Returns whether the option, or its negation, begins with the first `size` bytes of the name. */
static bool option_begins(const struct option *option, bool no, const char *name, size_t size)
{
	char full[64];
	snprintf(full, sizeof(full), "%s%s", no ? "no-" : "", option->name);
	return !strncmp(full, name, size);
}

static void reject_ambiguous(const struct option_usage *usage, const char *name, size_t size)
{
	char list[256] = "";
	for (const struct option *option = usage->options; !is_end(option); option++)
		for (int no = 0; option->name && no <= option->negatable; no++) {
			size_t used = strlen(list);
			if (option_begins(option, no, name, size))
				snprintf(list + used, sizeof(list) - used, "%s--%s%s",
					 used ? ", " : "", no ? "no-" : "", option->name);
		}
	bool cut = strlen(list) + 1 == sizeof(list);
	diag_print("ambiguous option '--%.*s': %s%s", (int)size, name, list, cut ? "..." : "");
}

/*
 * Finds a long option by its name's first `size` bytes: a full name or an unambiguous prefix. *negated:
 * the name is --no-NAME. A prefix in a script may become ambiguous in a later version: warns there.
 */
static const struct option *find_long(const struct option_usage *usage, const char *name,
				      size_t size, bool *negated)
{
	const struct option *found = NULL;
	size_t hits = 0;
	for (const struct option *option = usage->options; !is_end(option); option++) {
		for (int no = 0; option->name && no <= option->negatable; no++) {
			if (!option_begins(option, no, name, size))
				continue;
			hits++;
			found = option;
			*negated = no;
			if (strlen(option->name) + (no ? 3 : 0) == size)
				return found;
		}
	}
	/*
	 * The full name of a perf option that is not supported is not taken as a prefix of another
	 * option.
	 */
	if (!is_new(usage, 0, name, size))
		return NULL;
	if (hits == 1 && !isatty(STDERR_FILENO))
		diag_print("--%.*s is short for --%s%s: write the full name in scripts, because a "
			   "later version may have more options", (int)size, name,
			   *negated ? "no-" : "", found->name);
	if (hits == 1)
		return found;
	if (hits)
		reject_ambiguous(usage, name, size);
	else
		reject_long(usage, name, size);
	return NULL;
}

static const struct option *find_letter(const struct option_usage *usage, char letter)
{
	for (const struct option *option = usage->options; !is_end(option); option++)
		if (option->letter == letter)
			return option;
	if (is_new(usage, letter, NULL, 0))
		diag_print("unknown option '-%c'", letter);
	return NULL;
}

/* State of parsing the command line. */
struct option_scan {
	const struct option_usage *usage;
	char **argv;
	int argc, at;
};

static bool is_option_word(const char *word)
{
	return word[0] == '-' && word[1];
}

/* Returns whether the command reads a recording, -i FILE. */
static bool has_input(const struct option_usage *usage)
{
	for (const struct option *option = usage->options; !is_end(option); option++)
		if (option->name && !strcmp(option->name, "input"))
			return true;
	return false;
}

bool options_reject_recording(const char *path, const char *use)
{
	char magic[8] = "";
	struct stat stat_;
	if (stat(path, &stat_) || !S_ISREG(stat_.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		  (!memcmp(magic, "PERFILE2", sizeof(magic)) ||
		   !memcmp(magic, "2ELIFREP", sizeof(magic)));
	if (fd >= 0)
		close(fd);
	if (is) {
		char *command = text_append_word(xstrdup(use), path);
		diag_print("%s is a recording: %s", path, command);
		free(command);
	}
	return is;
}

/* Parses the option's argument: the attached text, or the next word. */
static bool take_argument(struct option_scan *scan, const struct option *option,
			  const char *attached)
{
	const char *text = attached;
	char title[64];
	if (!text && scan->at < scan->argc &&
	    !(option->optional && (option->attached || is_option_word(scan->argv[scan->at]))))
		text = scan->argv[scan->at++];
	if (!text && !option->optional) {
		diag_print("%s needs a value: %s", option_title(option, title, sizeof(title)),
			   option->argument);
		return false;
	}
	bool fine = option->parse(option, text);
	/* A list of names accepts any word, but none is the name of a recording. */
	bool may_be_file = !fine || option->parse == option_parse_strings;
	return !(may_be_file && text && has_input(scan->usage) &&
		 options_reject_recording(text, "use -i")) &&
	       fine;
}

static bool parse_long(struct option_scan *scan, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t size = equals ? (size_t)(equals - word) : strlen(word);
	bool negated = false;
	const struct option *option = find_long(scan->usage, word, size, &negated);
	if (!option)
		return false;
	if (option->argument)
		return take_argument(scan, option, equals ? equals + 1 : NULL);
	if (equals) {
		diag_print("--%s takes no value", option->name);
		return false;
	}
	if (negated) {
		option_negate(option);
		return true;
	}
	return option->parse(option, NULL);
}

static bool parse_short(struct option_scan *scan, const char *letters)
{
	for (; *letters; letters++) {
		const struct option *option = find_letter(scan->usage, *letters);
		if (!option)
			return false;
		if (option->argument)
			return take_argument(scan, option, letters[1] ? letters + 1 : NULL);
		if (!option->parse(option, NULL))
			return false;
	}
	return true;
}

/* Moves the words of an option, from `start` to scan->at, before the operands found so far. */
static void move_before_operands(struct option_scan *scan, int start, int operands)
{
	char *words[2]; /* an option and its value: at most two */
	size_t count = (size_t)(scan->at - start);
	char **first = &scan->argv[start - operands];
	memcpy(words, &scan->argv[start], count * sizeof(*words));
	memmove(first + count, first, (size_t)operands * sizeof(*words));
	memcpy(first, words, count * sizeof(*words));
}

int options_parse(const struct option_usage *usage, int argc, char **argv, int *operands)
{
	struct option_scan scan = {.usage = usage, .argv = argv, .argc = argc, .at = 1};
	int seen = 0; /* operands found so far, just before the next word */
	while (scan.at < argc) {
		int start = scan.at;
		const char *word = argv[scan.at];
		if (!is_option_word(word)) {
			if (usage->stop_at_operand)
				break;
			seen++;
			scan.at++;
			continue;
		}
		scan.at++;
		bool all = !strcmp(word, "--help-all");
		if (all || !strcmp(word, "--help") || !strcmp(word, "-h")) {
			options_help(usage, all, stdout);
			return 0;
		}
		bool last = !strcmp(word, "--");
		bool fine = last || (word[1] == '-' ? parse_long(&scan, word + 2)
						    : parse_short(&scan, word + 1));
		if (!fine)
			return usage_mistake(usage);
		move_before_operands(&scan, start, seen);
		if (last)
			break;
	}
	*operands = scan.at - seen;
	return -1;
}
