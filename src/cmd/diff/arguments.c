/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/diff/comparison.h"
#include "command.h"
#include "diag.h"

static bool parse_keys(const struct option *option, const char *text)
{
	static const enum sp_key known[] = {SP_KEY_COMM,     SP_KEY_DSO,     SP_KEY_SYMBOL,
					    SP_KEY_FUNCTION, SP_KEY_SRCFILE, SP_KEY_SRCLINE};
	struct diff_arguments *arguments = option->value;
	struct option_strings words = {0};
	bool fine = option_strings_add(&words, text);
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
	return fine || option_reject(option, text,
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
	static const struct {
		const char *name;
		enum sp_mode mode;
	} modes[] = {
		{"cpu", SP_MODE_CPU},
		{"wall", SP_MODE_WALL},
		{"off-cpu", SP_MODE_OFF_CPU},
		{"latency", SP_MODE_LATENCY},
	};
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (!strcmp(text, modes[i].name)) {
			*(int *)option->value = (int)modes[i].mode;
			return true;
		}
	}
	return option_reject(option, text, "cpu, wall, off-cpu or latency");
}

static bool parse_format(const struct option *option, const char *text)
{
	static const struct {
		const char *name;
		void (*write)(const struct comparison *comparison, FILE *out);
	} formats[] = {
		{"text", diff_write_text},
		{"json", diff_write_json},
		{"csv", diff_write_csv},
		{"markdown", diff_write_markdown},
	};
	struct diff_arguments *arguments = option->value;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (!strcmp(text, formats[i].name)) {
			arguments->write = formats[i].write;
			return true;
		}
	}
	return option_reject(option, text, "text, json, csv or markdown");
}

static bool parse_percent(const struct option *option, const char *text)
{
	char *end;
	if (option_text_percent(text, &end, option->value) && (!*end || !strcmp(end, "%")))
		return true;
	return option_reject(option, text, "a percentage from 0 to 100");
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
			    "compare the time of a run, or the share of it (default: time, if the "
			    "recordings are whole runs of a command)"),
		OPTION_CALL(0, "mode", "MODE", &a->mode, parse_mode,
			    "weigh by cpu (default), wall, off-cpu or latency"),
		OPTION_CALL(0, "percent-limit", "PERCENT", &a->least_share, parse_percent,
			    "test rows from PERCENT of either side (default: 0.5)"),
		OPTION_CALL(
			0, "fail-on", "PERCENT", &a->fail_on, parse_percent,
			"exit with 1 if something is certainly more than PERCENT slower, with 2 "
			"if that is neither found nor excluded"),
		OPTION_GROUP("Filters:"),
		OPTION_STRINGS('c', "comms", "NAMES", &s->comms, "select commands (thread names)"),
		OPTION_STRINGS('d', "dsos", "NAMES", &s->dsos, "select programs and libraries"),
		OPTION_STRINGS('S', "symbols", "NAMES", &s->symbols, "select sampled functions"),
		OPTION_STRINGS('e', "event", "NAME", &s->events,
			       "compare this event (default: that with the most samples)"),
		OPTION_GROUP("Output:"),
		OPTION_CALL(0, "format", "FORMAT", a, parse_format,
			    "write text (default), json, csv or markdown"),
		OPTION_STRING('o', "output", "FILE", &a->output, "write to FILE"),
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
		.about = "Compares recordings of one program or version with those of another, by "
			 "function.\n"
			 "Without files: sprof.data.old and sprof.data. Verdicts need 3 runs a "
			 "side.",
		.example = "sprof diff old.*.data -- new.*.data",
		.footer = "Take the runs of both sides in turns: programs differ more between "
			  "hours than\n"
			  "between runs.",
		.options = options,
	};
	return options_parse(&usage, argc, argv, operand);
}

/* Sets the recordings of a side. */
static void set_side(struct diff_arguments *arguments, enum sp_diff_side side, char **paths,
		     size_t count)
{
	arguments->operands[side] = (const char *const *)paths;
	arguments->operand_counts[side] = count;
}

/*
 * Sets both sides, if the only operand is a folder with the files base.N.data and new.N.data.
 * *found tells whether it is. Returns false when out of memory.
 */
static bool set_folder(struct diff_arguments *arguments, const char *folder, bool *found)
{
	static const char *const patterns[] = {"base.*.data", "new.*.data"};
	*found = true;
	for (size_t side = 0; side < 2; side++) {
		char *pattern;
		if (asprintf(&pattern, "%s/%s", folder, patterns[side]) < 0)
			return false;
		int status = glob(pattern, 0, NULL, &arguments->folders[side]);
		free(pattern);
		if (status == GLOB_NOSPACE)
			return false;
		*found &= !status && arguments->folders[side].gl_pathc;
	}
	for (size_t side = 0; side < 2 && *found; side++)
		set_side(arguments, (enum sp_diff_side)side, arguments->folders[side].gl_pathv,
			 arguments->folders[side].gl_pathc);
	return true;
}

/* Distributes the operands without "--". Returns -1 or the exit status. */
static int set_operands(struct diff_arguments *arguments, char **operands, size_t count)
{
	static char old[] = "sprof.data.old", last[] = "sprof.data";
	static char *defaults[] = {old, last};
	bool is_folder = false;
	if (count > 2) {
		diag_say("which of these %zu files are the base? sprof diff BASE... -- NEW...",
			 count);
		return EXIT_USAGE;
	}
	if (count == 1 && !set_folder(arguments, operands[0], &is_folder)) {
		diag_say("out of memory");
		return EXIT_RECORDER;
	}
	if (is_folder)
		return -1;
	set_side(arguments, SP_DIFF_BASE, count ? operands : defaults, 1);
	set_side(arguments, SP_DIFF_NEW, count == 2 ? operands + 1 : defaults + 1, 1);
	return -1;
}

int diff_arguments_parse(struct diff_arguments *arguments, int argc, char **argv)
{
	static const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_FUNCTION};
	int dashes = 1, operand;
	*arguments = (struct diff_arguments){
		.write = diff_write_text,
		.fail_on = -1,
		.key_count = sizeof(keys) / sizeof(*keys),
	};
	memcpy(arguments->keys, keys, sizeof(keys));
	input_options_init(&arguments->selection);
	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	int status = parse_options(arguments, dashes, argv, &operand);
	if (status >= 0)
		return status;
	if (dashes == argc)
		return set_operands(arguments, argv + operand, (size_t)(argc - operand));
	set_side(arguments, SP_DIFF_BASE, argv + operand, (size_t)(dashes - operand));
	set_side(arguments, SP_DIFF_NEW, argv + dashes + 1, (size_t)(argc - dashes - 1));
	if (dashes > operand && argc > dashes + 1)
		return -1;
	diag_say("no files %s '--': sprof diff BASE... -- NEW...",
		 dashes > operand ? "after" : "before");
	return EXIT_USAGE;
}

void diff_arguments_deinit(struct diff_arguments *arguments)
{
	for (size_t side = 0; side < 2; side++)
		globfree(&arguments->folders[side]);
	input_options_deinit(&arguments->selection);
}
