/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains why what an option names has no samples. A function is only a caller, for which other
 * options exist, or a name is misspelt. A second analysis, without the options that select by such
 * names, decides this.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "cmd/report/report_arguments.h"
#include "diag.h"
#include "input.h"
#include "nearest.h"
#include "text.h"

/*
 * Result of searching a function's name in the rows: its number of samples, and the nearest
 * other name.
 */
struct name_match {
	const char *name; /* name as in the rows; NULL: no row has it */
	const char *last; /* name that is the last part of a qualified one; NULL: no row has it */
	uint64_t samples;
	struct nearest nearest;
};

static const char *name_of(const struct sp_row *row)
{
	return row->function ?: row->symbol;
}

/* Returns whether `name` is the wanted name, as filters find it, or without its parameters. */
static bool has_name(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);
	return sp_name_fits(wanted, name) || (!strncmp(name, wanted, size) && name[size] == '(');
}

static struct name_match find_name(const struct sp_analysis *analysis, const char *wanted)
{
	struct name_match found = {0};
	const char *last = strrchr(wanted, wanted[strcspn(wanted, ":")] ? ':' : '.');
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		for (size_t j = 0; j < profile->row_count; j++) {
			const struct sp_row *row = sp_profile_row(profile, j);
			const char *name = name_of(row);
			if (name && has_name(name, wanted)) {
				found.name = name;
				found.samples += row->total.samples;
			} else if (name && row->symbol_known) {
				nearest_add(&found.nearest, wanted, strlen(wanted), name);
				if (last && last[1] && has_name(name, last + 1))
					found.last = name;
			}
		}
	}
	return found;
}

/* Prints that nothing has the name, with the command that lists all by a key. */
static void report_unknown(const struct recordings *recordings, const char *fits, const char *name,
			   const char *key)
{
	const char *path = sp_reader_info(recordings->items[0].reader)->path;
	char *command = input_command("sprof report", recordings->count > 1 ? NULL : path);
	diag_print("no %s %s; '%s -s %s' lists all", fits, name, command, key);
	free(command);
}

static void report_name(const struct recordings *recordings, const struct sp_analysis *analysis,
			const char *wanted)
{
	struct name_match found = find_name(analysis, wanted);
	const char *nearest = found.nearest.name ?: found.last;
	/* Names that begin otherwise, or were shortened, are given as a whole. */
	bool whole = found.name && (strncmp(found.name, wanted, strlen(wanted)) ||
				    !strcmp(found.name, wanted));
	char *expression = found.name ? text_expression(whole ? found.name : wanted) : NULL;
	unsigned long long samples = found.samples;
	if (found.name)
		diag_print("no sample has %s as its sampled function; %llu sample%s pass%s through "
			   "it: use --focus '^%s%s'",
			   wanted, samples, samples == 1 ? "" : "s", samples == 1 ? "es" : "",
			   expression, whole ? "$" : "");
	else if (nearest)
		diag_print("no stack has a function %s; the nearest name is %s", wanted,
			   nearest);
	else
		report_unknown(recordings, "stack has a function", wanted, "function");
	free(expression);
}

/* Keys with options that select rows by value. */
static const struct named_key {
	enum sp_key key;
	const char *fits, *noun; /* for messages */
} named_keys[] = {
	{SP_KEY_COMM, "thread is named", "name"},
	{SP_KEY_DSO, "program or library is named", "name"},
	{SP_KEY_ARGUMENT, "argument matches", "one"},
	{SP_KEY_CMDLINE, "command line matches", "one"},
};

#define NAMED_KEYS (sizeof(named_keys) / sizeof(*named_keys))

static const struct option_strings *wanted_of(const struct selection *selection, enum sp_key key)
{
	switch (key) {
	case SP_KEY_COMM:
		return &selection->comms;
	case SP_KEY_DSO:
		return &selection->dsos;
	case SP_KEY_ARGUMENT:
		return &selection->arguments;
	default:
		return &selection->command_lines;
	}
}

/* Result of searching a name or pattern in the values of a key. */
struct found_value {
	bool exists, known;    /* a row has it; a row has any value */
	struct nearest nearest;
	const char *longer;    /* a value that contains it; NULL: none */
};

static struct found_value find_value(const struct sp_analysis *analysis, const char *wanted,
				     enum sp_key key)
{
	struct found_value found = {0};
	const char *name = key == SP_KEY_DSO ? text_base_name(wanted) : wanted;
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		for (size_t j = 0; j < profile->row_count; j++) {
			const char *text = row_text(sp_profile_row(profile, j), key);
			if (!text)
				continue;
			found.known = true;
			found.exists |= !strcmp(name, text) || (strpbrk(name, "*?") &&
								!fnmatch(name, text, 0));
			nearest_add(&found.nearest, wanted, strlen(wanted), text);
			if (!found.longer && strstr(text, wanted))
				found.longer = text;
		}
	}
	return found;
}

/* Reports the names or patterns of a key's option that no row has. */
static void report_values(const struct recordings *recordings, const struct sp_analysis *analysis,
			  const struct selection *selection, const struct named_key *of)
{
	const struct option_strings *wanted = wanted_of(selection, of->key);
	for (size_t i = 0; i < wanted->count; i++) {
		const char *name = wanted->items[i];
		struct found_value found = find_value(analysis, name, of->key);
		const char *nearest = found.nearest.name ?: found.longer;
		if (found.exists)
			continue;
		if (!found.known) {
			diag_print("the recording has no command lines; "
				   "'sprof record --command-lines' records them");
			return;
		}
		if (nearest)
			diag_print("no %s %s; the nearest %s is %s", of->fits, name, of->noun,
				   nearest);
		else
			report_unknown(recordings, of->fits, name, sp_key_name(of->key));
	}
}

static bool has_samples(const struct sp_analysis *analysis, bool *shown_ret)
{
	bool any = false;
	*shown_ret = false;
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		any |= sp_analysis_profile(analysis, i)->samples > 0;
		*shown_ret |= sp_analysis_profile(analysis, i)->shown_samples > 0;
	}
	return any;
}

void report_unmatched_names(const struct report_arguments *arguments, struct sp_ctx *ctx,
			  const struct recordings *recordings,
			  const struct sp_analysis *analysis)
{
	const struct selection *selection = &arguments->selection;
	const char *root = arguments->callers ?: arguments->callees;
	bool by_function = selection->symbols.count || (root && *root != '/');
	enum sp_key keys[NAMED_KEYS] = {selection->inlines ? SP_KEY_FUNCTION : SP_KEY_SYMBOL};
	size_t count = by_function;
	for (size_t i = 0; i < NAMED_KEYS && !by_function; i++)
		if (wanted_of(selection, named_keys[i].key)->count)
			keys[count++] = named_keys[i].key;
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys,
					      .key_count = count, .children = true};
	const struct sp_analysis_stacks stacks = {
		.size = sizeof(stacks),
		.max_frames = (size_t)arguments->max_stack,
		.inlines = selection->inlines ? SP_ON : SP_OFF,
		.kernel_waits = arguments->kernel_waits,
		.fold_python = report_folds_python(arguments),
	};
	const struct sp_analysis_samples samples = {
		.size = sizeof(samples),
		.mode = (enum sp_mode)arguments->mode,
	};
	struct sp_filter filter = input_options_filter(selection, NULL);
	const struct sp_files files = input_options_files(selection);
	const struct sp_analysis_options options = {
		.size = sizeof(options),
		.rows = &rows,
		.stacks = &stacks,
		.samples = &samples,
		.filter = &filter,
		.files = &files,
		.threads = (unsigned int)selection->jobs,
	};
	struct sp_analysis *all = NULL;
	bool shown;
	if (!has_samples(analysis, &shown) || shown || arguments->branches == 1 ||
	    !count)
		return;
	if (arguments->my_code) {
		diag_print("--my-code leaves out libraries, runtimes and the kernel; "
			   "omit it to select their functions");
		return;
	}
	filter.symbols = (struct sp_string_list){0};
	if (!by_function) {
		filter.comms = filter.dsos = (struct sp_string_list){0};
		filter.arguments = filter.command_lines = (struct sp_string_list){0};
	}
	struct sp_error *error = sp_analysis_sum(ctx, recordings->items, recordings->count,
						 &options, &all);
	if (error) {
		diag_error(error);
		return;
	}
	for (size_t i = 0; i < selection->symbols.count; i++)
		report_name(recordings, all, selection->symbols.items[i]);
	if (!selection->symbols.count && by_function)
		report_name(recordings, all, root);
	for (size_t i = 0; i < NAMED_KEYS && !by_function; i++)
		report_values(recordings, all, selection, &named_keys[i]);
	sp_analysis_free(all);
}

/* Returns whether a row has a between-run interval, or there are no rows. */
static bool has_between(const struct sp_analysis *analysis)
{
	bool any = false;
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		any |= profile->row_count > 0;
		if (profile->row_count && sp_profile_row(profile, 0)->self_between)
			return true;
	}
	return !any;
}

/* Returns false after printing why --interval between is not possible. */
static bool check_between(const struct report_arguments *arguments,
			  const struct sp_analysis *analysis)
{
	if (arguments->interval != SHOWN_BETWEEN || !arguments->output->intervals ||
	    has_between(analysis))
		return true;
	diag_print("--interval between needs one finished recording, or at least 3 runs of one "
		   "command");
	diag_more("it does not work with --mode, -b, --callers, --time, -s time, or files of one "
		  "rotation");
	return false;
}

/* Returns false after printing that no sample has memory data for --mem-mode. */
static bool check_accesses(const struct recordings *recordings, const struct sp_analysis *analysis)
{
	uint64_t samples = 0, accesses = 0;
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		samples += sp_analysis_profile(analysis, i)->samples;
		accesses += sp_analysis_profile(analysis, i)->accesses;
	}
	if (samples && !accesses)
		diag_print("%s has no memory data, which --mem-mode needs; "
			   "'sprof record -d -W -e EVENT' records it for events of memory accesses",
			   sp_reader_info(recordings->items[0].reader)->path);
	return !samples || accesses;
}

bool report_check_result(const struct report_arguments *arguments,
			 const struct recordings *recordings, const struct sp_analysis *analysis)
{
	return (!arguments->memory || check_accesses(recordings, analysis)) &&
	       check_between(arguments, analysis);
}
