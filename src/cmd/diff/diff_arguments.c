/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd/diff/comparison.h"
#include "command.h"
#include "diag.h"
#include "memory.h"
#include "out/output.h"
#include "text.h"

static bool parse_keys(const struct option *option, const char *text)
{
	static const enum sp_key known[] = {SP_KEY_COMM,     SP_KEY_DSO,     SP_KEY_SYMBOL,
					    SP_KEY_FUNCTION, SP_KEY_SRCFILE, SP_KEY_SRCLINE};
	struct diff_arguments *arguments = option->value;
	struct option_strings words = {0};
	bool fine = true;
	option_strings_add(&words, text);
	arguments->key_count = 0;
	for (size_t i = 0; fine && i < words.count; i++) {
		enum sp_key key;
		bool is_known = false;
		fine = sp_key_parse(words.items[i], &key) && arguments->key_count < DIFF_KEYS;
		for (size_t j = 0; fine && j < sizeof(known) / sizeof(*known); j++)
			is_known |= known[j] == key;
		fine = fine && is_known;
		if (fine)
			arguments->keys[arguments->key_count++] = key;
	}
	option_strings_deinit(&words);
	return (fine && arguments->key_count) ||
	       option_reject(option, text,
			     "a list of comm, dso, symbol or function, srcfile or srcline");
}

static bool parse_by(const struct option *option, const char *text)
{
	struct diff_arguments *arguments = option->value;
	if (!strcmp(text, "time"))
		arguments->by = DIFF_BY_TIME;
	else if (!strcmp(text, "share"))
		arguments->by = DIFF_BY_SHARE;
	else
		return option_reject(option, text, "time or share");
	return true;
}

static bool parse_mode(const struct option *option, const char *text)
{
	return option_store_mode(option, text, SP_MODE_LATENCY);
}

/* The first --time is of both sides, and a second one of the new runs. */
static bool parse_time(const struct option *option, const char *text)
{
	struct diff_arguments *arguments = option->value;
	struct time_ranges ranges = {0};
	bool is_second = arguments->time_texts[SP_DIFF_BASE] != NULL;
	if (!time_ranges_parse(&ranges, text) ||
	    arguments->time_texts[SP_DIFF_NEW] != arguments->time_texts[SP_DIFF_BASE])
		return option_reject(option, text, "a range, as 0%-50% or +1.5,+3, at most twice");
	for (size_t side = is_second; side < 2; side++) {
		arguments->times[side] = ranges;
		arguments->time_texts[side] = text;
	}
	return true;
}

#define FORMAT_NAMES "text, json, csv, markdown, folded or html"

/* Returns whether there is a format of that name, and chooses it. */
static bool choose_format(struct diff_arguments *arguments, const char *name)
{
	static const struct {
		const char *name;
		void (*write)(const struct comparison *comparison, FILE *out);
	} formats[] = {
		{"text", diff_write_text},     {"json", diff_write_json},
		{"csv", diff_write_csv},       {"markdown", diff_write_markdown},
		{"folded", diff_write_folded}, {"html", diff_write_html},
	};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!strcmp(name, formats[i].name)) {
			arguments->write = formats[i].write;
			return true;
		}
	}
	return false;
}

static bool parse_format(const struct option *option, const char *text)
{
	return choose_format(option->value, text) || option_reject(option, text, FORMAT_NAMES);
}

/*
 * Chooses the format by the file's name if --format did not. Returns false after printing that
 * comparisons lack the format.
 */
static bool choose_format_of_file(struct diff_arguments *arguments)
{
	const char *path = arguments->output;
	const struct output_format *named = path ? output_find_file(path) : NULL;
	const char *format = path && !fnmatch("*.md", path, FNM_CASEFOLD) ? "markdown"
			     : named					  ? named->name
									  : "text";
	if (arguments->write ||
	    (!(path && output_is_picture(path)) && choose_format(arguments, format)))
		return true;
	diag_print("-o %s: comparisons have no such format; --format selects " FORMAT_NAMES, path);
	diag_more("-o diff.html writes a page with a flame graph");
	return false;
}

static int parse_options(struct diff_arguments *a, int argc, char **argv, int *operand)
{
	struct selection *s = &a->selection;
	const struct option options[] = {
		OPTION_GROUP("Comparison:"),
		OPTION_CALL('s', "sort", "KEYS", a, parse_keys,
			    "compare rows by comm, dso, symbol or function, srcfile or srcline "
			    "(default: dso,function)"),
		OPTION_CALL(0, "by", "WHAT", a, parse_by,
			    "compare time, or share (default: time of whole runs)"),
		OPTION_CALL(0, "mode", "MODE", &a->mode, parse_mode,
			    "weigh by cpu (default), wall, off-cpu or latency"),
		OPTION_CALL(0, "percent-limit", "PERCENT", &a->least_share, option_parse_percent,
			    "test rows from PERCENT of either side (default: 0.5)"),
		OPTION_CALL(
			0, "fail-on", "PERCENT", &a->fail_on, option_parse_percent,
			"exit with 1 if something is certainly more than PERCENT slower, with 2 "
			"if that is neither found nor excluded"),
		OPTION_GROUP("Filters:"),
		OPTION_STRINGS('c', "comms", "NAMES", &s->comms, "select commands (thread names)"),
		OPTION_STRINGS('d', "dsos", "NAMES", &s->dsos, "select programs and libraries"),
		OPTION_STRINGS('S', "symbols", "NAMES", &s->symbols, "select sampled functions"),
		OPTION_STRINGS('e', "event", "NAME", &s->events,
			       "compare this event (default: the first)"),
		OPTION_CALL(0, "time", "RANGE", a, parse_time,
			    "compare a part, as 0%-50%; a second one is of NEW"),
		OPTION_GROUP("Output:"),
		OPTION_CALL(0, "format", "FORMAT", a, parse_format,
			    "write text (default), json, csv, markdown, folded or html"),
		OPTION_STRING(
			'o', "output", "FILE", &a->output,
			"write to FILE; its name chooses the format (.html, .json, .csv, .md, "
			".folded)"),
		OPTION_FLAG(0, "all", &a->all,
			    "print all tested rows, also those without a change"),
		OPTION_FLAG('q', "quiet", &s->quiet, "print the table only"),
		OPTION_FLAG('v', "verbose", &s->verbose, "print each step to standard error"),
		OPTION_GROUP("Input:"),
		OPTION_STRING(0, "symfs", "DIR", &s->symfs,
			      "look for the recorded files below DIR"),
		OPTION_FLAG(0, "debuginfod", &s->debuginfod,
			    "download missing files from $DEBUGINFOD_URLS"),
		OPTION_NUMBER('j', "jobs", "N", &s->jobs, "use N threads (default: one per CPU)"),
		OPTION_END,
	};
	static const char *const synopses[] = {
		"sprof diff [OPTION]... BASE... -- NEW...",
		"sprof diff [OPTION]... [BASE [NEW]]",
		"sprof diff [OPTION]... FOLDER",
		NULL,
	};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Compares recordings of one program with those of another, by function.\n"
			 "Without files: sprof.data.old and sprof.data, or sprof.runs.",
		.example = "sprof diff old.*.data -- new.*.data",
		.footer = "Verdicts need 3 runs a side. Take those of both sides in turns: "
			  "programs differ\n"
			  "more between hours than between runs.",
		.options = options,
	};
	return options_parse(&usage, argc, argv, operand);
}

/* Returns whether the name is PREFIX, a number, and ".data". */
static int is_run(const char *name, const char *prefix)
{
	size_t size = strlen(prefix);
	if (strncmp(name, prefix, size))
		return 0;
	size_t digits = strspn(name + size, "0123456789");
	return digits && !strcmp(name + size + digits, ".data");
}

static int is_base(const struct dirent *entry)
{
	return is_run(entry->d_name, "base.");
}

static int is_new(const struct dirent *entry)
{
	return is_run(entry->d_name, "new.");
}

/* Adds the recordings base.N.data, or new.N.data, of a folder of `record --repeat`. */
static void add_folder(struct option_strings *paths, const char *folder, bool only_new)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, only_new ? is_new : is_base, versionsort);
	for (int i = 0; i < count; i++) {
		*list_push(paths) = xasprintf("%s/%s", folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

/* Adds a recording, or those of a folder that record --repeat made. */
static void add_operand(struct option_strings *paths, const char *operand)
{
	size_t count = paths->count;
	add_folder(paths, operand, false);
	if (paths->count == count)
		option_strings_push(paths, operand, strlen(operand));
}

/*
 * Distributes operands without "--". Without any, runs of record --repeat are compared if there are
 * no two recordings. Returns -1 or the exit status.
 */
static int add_pair(struct diff_arguments *arguments, char **operands, size_t count)
{
	struct option_strings *base = &arguments->paths[SP_DIFF_BASE];
	struct option_strings *now = &arguments->paths[SP_DIFF_NEW];
	const char *last = count == 2 ? operands[1] : "sprof.data";
	static char runs[] = "sprof.runs";
	const char *const *times = arguments->time_texts;
	/* Two ranges of one recording. */
	if (count < 2 && times[SP_DIFF_NEW] != times[SP_DIFF_BASE]) {
		last = count ? operands[0] : "sprof.data";
		add_operand(base, last);
		add_operand(now, last);
		return -1;
	}
	char *folder[] = {runs};
	if (!count && access("sprof.data.old", F_OK) && !access(runs, F_OK)) {
		operands = folder;
		count = 1;
	}
	add_operand(base, count ? operands[0] : "sprof.data.old");
	if (count == 1)
		add_folder(now, operands[0], true);
	if (count == 1 && !now->count && strcmp(base->items[0], operands[0])) {
		char *command = text_append_word(xstrdup("sprof diff"), operands[0]);
		diag_print("%s has the runs of one program only: %s OTHER", operands[0], command);
		free(command);
		return EXIT_USAGE;
	}
	if (!now->count)
		add_operand(now, last);
	return -1;
}

int diff_arguments_parse(struct diff_arguments *arguments, int argc, char **argv)
{
	static const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_FUNCTION};
	int dashes = 1, operand;
	*arguments = (struct diff_arguments){
		.fail_on = -1,
		.least_share = 0.005,
		.key_count = sizeof(keys) / sizeof(*keys),
	};
	memcpy(arguments->keys, keys, sizeof(keys));
	input_options_init(&arguments->selection);
	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	int status = parse_options(arguments, dashes, argv, &operand);
	if (status >= 0)
		return status;
	if (!choose_format_of_file(arguments))
		return EXIT_USAGE;
	if (arguments->write == diff_write_html && !arguments->output && isatty(STDOUT_FILENO)) {
		diag_print("--format html is not for terminals");
		diag_more("write it to a file: -o FILE");
		return EXIT_USAGE;
	}
	char **end = argv + dashes, **next = argv + operand;
	if (dashes == argc && end - next > 2) {
		diag_print("which of these %zu files are the base? sprof diff BASE... -- NEW...",
			   (size_t)(end - next));
		return EXIT_USAGE;
	}
	if (dashes == argc)
		return add_pair(arguments, next, (size_t)(end - next));
	if (next == end || dashes + 1 == argc) {
		diag_print("no files %s '--': sprof diff BASE... -- NEW...",
			   next == end ? "before" : "after");
		return EXIT_USAGE;
	}
	for (; next < end; next++)
		add_operand(&arguments->paths[SP_DIFF_BASE], *next);
	for (int i = dashes + 1; i < argc; i++)
		add_operand(&arguments->paths[SP_DIFF_NEW], argv[i]);
	return -1;
}

void diff_arguments_deinit(struct diff_arguments *arguments)
{
	for (size_t side = 0; side < 2; side++)
		option_strings_deinit(&arguments->paths[side]);
	input_options_deinit(&arguments->selection);
}
