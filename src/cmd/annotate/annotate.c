/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `sprof annotate` shows the code of a function with its samples. A first analysis finds the
 * functions that match, a second one the instructions of the hottest.
 */
#include "cmd/annotate/annotate.h"

#include <stdlib.h>
#include <string.h>
#include "cmd/common/recordings.h"
#include "command.h"
#include "diag.h"
#include "out/format_value.h"
#include "output_file.h"
#include "pager.h"
#include "progress.h"

/* Most functions that a message lists. */
#define LISTED 5

struct annotate_arguments {
	struct selection selection;
	const char *function; /* NULL: the hottest one */
	const char *file;     /* value of -o; NULL: standard output */
	int source;	      /* -1: not given */
	bool intel, whole, codes, samples, is_global;
	void (*write)(const struct annotated *annotated, FILE *out);
};

/* An analysis by function, or by instruction of one. */
struct functions_analysis {
	struct sp_analysis *analysis;
	const struct sp_profile *profile; /* the shown event's */
	size_t index;			  /* number of the profile */
};

/* Runs an analysis by the keys of `rows`. `symbol`: only those that match; NULL: all. */
static struct sp_error *analyse(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
				const struct recordings *recordings, const char *symbol,
				const struct sp_analysis_rows *rows, bool relative,
				struct sp_analysis **ret)
{
	bool inlines = rows->keys[rows->key_count - 1] == SP_KEY_FUNCTION;
	const struct sp_analysis_stacks stacks = {.size = sizeof(stacks),
						  .inlines = inlines ? SP_ON : SP_OFF};
	const struct sp_analysis_samples samples = {.size = sizeof(samples), .relative = relative};
	const struct sp_files files = input_options_files(&arguments->selection);
	struct sp_filter filter = input_options_filter(&arguments->selection, NULL);
	if (symbol)
		filter.symbols = (struct sp_string_list){&symbol, 1};
	const struct sp_analysis_options options = {
		.size = sizeof(options),
		.rows = rows,
		.stacks = &stacks,
		.samples = &samples,
		.filter = &filter,
		.files = &files,
		.threads = (unsigned int)arguments->selection.jobs,
	};
	return sp_analysis_sum(ctx, recordings->items, recordings->count, &options, ret);
}

static bool is_wanted(const struct selection *selection, const char *event)
{
	for (size_t i = 0; i < selection->events.count; i++)
		if (!strcmp(selection->events.items[i], event))
			return true;
	return !selection->events.count;
}

/* Chooses the event with the most samples of those that are wanted. */
static void choose_event(const struct annotate_arguments *arguments,
			 struct functions_analysis *found)
{
	size_t others = 0;
	for (size_t i = 0; i < sp_analysis_profile_count(found->analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(found->analysis, i);
		if (!profile->row_count || !is_wanted(&arguments->selection, profile->event))
			continue;
		others += found->profile != NULL;
		if (!found->profile || profile->shown_samples > found->profile->shown_samples) {
			found->profile = profile;
			found->index = i;
		}
	}
	if (others && !arguments->selection.quiet)
		diag_say("shown is the event with the most samples, %s (-e EVENT chooses another)",
			 found->profile->event);
}

/* Prints that several functions match. */
static void list_matches(const struct sp_profile *profile)
{
	char share[FORMAT_SIZE];
	diag_say("%zu functions match; shown is the hottest:", profile->row_count);
	for (size_t i = 0; i < profile->row_count && i < LISTED; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		diag_more("%7s  %s  %s", format_share(row->self.share.value, share), row->symbol,
			  row->dso);
	}
	if (profile->row_count > LISTED)
		diag_more("and %zu more", profile->row_count - LISTED);
}

/* Prints a command that shows another function. */
static void print_command(const struct annotate_arguments *arguments, const char *function)
{
	const char *input = arguments->selection.input;
	diag_more("sprof annotate %s%s%s'%s'", input ? "-i " : "", input ?: "", input ? " " : "",
		  function);
}

/* Prints which functions contain a function that is always inlined. Returns their number. */
static size_t print_callers(const struct annotate_arguments *arguments,
			    const struct sp_profile *profile, size_t listed)
{
	for (size_t i = 0; i < profile->row_count && listed < LISTED; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (!row->inlined)
			continue;
		if (!listed++)
			diag_say("%s is always inlined; it is in:", arguments->function);
		print_command(arguments, row->symbol);
	}
	return listed;
}

/* Prints functions with a name that contains the given one. Returns their number. */
static size_t print_similar(const struct annotate_arguments *arguments,
			    const struct sp_profile *profile, size_t listed)
{
	for (size_t i = 0; i < profile->row_count && listed < LISTED; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (!strstr(row->symbol, arguments->function))
			continue;
		if (!listed++)
			diag_say("no function is named %s; similar are:", arguments->function);
		print_command(arguments, row->symbol);
	}
	return listed;
}

/* Analyses again, and prints functions for which the user may have meant the given name. */
static size_t print_guesses(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
			    const struct recordings *recordings, bool inlined)
{
	static const enum sp_key keys[] = {SP_KEY_SYMBOL, SP_KEY_FUNCTION};
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows), .keys = keys, .key_count = inlined ? 2 : 1};
	struct sp_analysis *analysis = NULL;
	size_t listed = 0;
	sp_error_free(analyse(arguments, ctx, recordings, inlined ? arguments->function : NULL,
			      &rows, false, &analysis));
	for (size_t i = 0; analysis && i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		listed = (inlined ? print_callers : print_similar)(arguments, profile, listed);
	}
	sp_analysis_free(analysis);
	return listed;
}

/* Prints why no function matches. */
static void print_no_match(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
			   const struct recordings *recordings)
{
	bool filtered = input_options_is_filtered(&arguments->selection);
	if (!arguments->function)
		diag_say("no samples%s",
			 filtered ? " pass the filters" : "; 'sprof report' prints the reason");
	else if (!print_guesses(arguments, ctx, recordings, true) &&
		 !print_guesses(arguments, ctx, recordings, false))
		diag_say("no sample is in a function %s; 'sprof report' lists the functions",
			 arguments->function);
}

/* Writes the annotation of a function. */
static int write_function(const struct annotate_arguments *arguments, struct annotated *annotated)
{
	static const char *const root[] = {"/"};
	struct annotate_sources sources = {0};
	struct output_file file = {0};
	struct pager pager = {0};
	if (arguments->source != 0) {
		if (!source_roots_open(&sources.roots, root, 1)) {
			source_roots_deinit(&sources.roots);
			return 1;
		}
		annotated->sources = &sources;
	}
	int status = 1;
	if (!arguments->file || output_file_open(&file, arguments->file)) {
		bool paged =
			arguments->selection.pager != 0 && arguments->write == annotate_write_text;
		if (!arguments->file)
			pager = pager_open(paged);
		arguments->write(annotated, arguments->file ? file.out : pager.out);
		status = arguments->file ? output_file_close(&file, true) : pager_close(&pager);
	}
	for (size_t i = 0; i < sources.count; i++) {
		free(sources.items[i].lines);
		free(sources.items[i].text);
	}
	free(sources.items);
	source_roots_deinit(&sources.roots);
	return status;
}

/* Returns the hottest row of the function in a profile by instruction; NULL: there is none. */
static const struct sp_row *hottest_instruction(const struct sp_profile *profile,
						const struct sp_row *function)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (!strcmp(row->symbol, function->symbol) && !strcmp(row->dso, function->dso) &&
		    row->level == function->level)
			return row;
	}
	return NULL;
}

static int annotate_function(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
			     const struct recordings *recordings,
			     const struct functions_analysis *found)
{
	static const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL};
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows), .keys = keys, .key_count = 2, .annotate = true};
	const struct sp_file_info *info = sp_reader_info(recordings->items[0].reader);
	const struct sp_row *function = sp_profile_row(found->profile, 0);
	struct sp_analysis *analysis = NULL;
	struct sp_annotation *annotation = NULL;
	int status = 1;
	struct sp_error *error = analyse(arguments, ctx, recordings, function->symbol, &rows,
					 !arguments->is_global, &analysis);
	const struct sp_profile *profile =
		error ? NULL : sp_analysis_profile(analysis, found->index);
	const struct sp_row *row = profile ? hottest_instruction(profile, function) : NULL;
	const struct sp_annotation_options options = {
		.size = sizeof(options),
		.big_endian = info->big_endian,
		.intel = arguments->intel,
		.whole = arguments->whole,
		.lines = arguments->source == 0 ? SP_OFF : SP_ON,
	};
	if (row)
		error = sp_annotation_new(profile, row, &options, &annotation);
	if (error)
		diag_error(error);
	if (annotation) {
		struct annotated annotated = {
			.annotation = annotation,
			.profile = profile,
			.event = sp_analysis_event(analysis, found->index),
			.function = function,
			.recording = info->path,
			.is_global = arguments->is_global,
			.codes = arguments->codes,
			.samples = arguments->samples,
			.quiet = arguments->selection.quiet,
			.term = term_of_stdout(TERM_COLOUR_AUTO),
		};
		if (arguments->file)
			annotated.term = (struct term){.utf8 = annotated.term.utf8};
		status = write_function(arguments, &annotated);
	}
	sp_annotation_free(annotation);
	sp_analysis_free(analysis);
	return status;
}

static int annotate_recordings(struct sp_ctx *ctx, void *data, struct recordings *recordings)
{
	static const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL};
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = keys, .key_count = 2};
	struct annotate_arguments *arguments = data;
	struct functions_analysis found = {0};
	struct progress progress;
	if (!recordings_select_events(recordings, &arguments->selection, true) ||
	    !recordings_resolve_times(recordings, &arguments->selection))
		return 1;
	progress_begin(&progress, ctx,
		       !arguments->selection.quiet && !arguments->selection.verbose);
	struct sp_error *error = analyse(arguments, ctx, recordings, arguments->function, &rows,
					 false, &found.analysis);
	progress_end(&progress);
	int status = 1;
	if (error) {
		diag_error(error);
		return 1;
	}
	choose_event(arguments, &found);
	if (found.profile) {
		if (arguments->function && found.profile->row_count > 1 &&
		    !arguments->selection.quiet)
			list_matches(found.profile);
		status = annotate_function(arguments, ctx, recordings, &found);
	} else {
		print_no_match(arguments, ctx, recordings);
	}
	sp_analysis_free(found.analysis);
	return recordings_print_damage(recordings) | status;
}

static bool parse_format(const struct option *option, const char *text)
{
	struct annotate_arguments *arguments = option->value;
	if (!strcmp(text, "text"))
		arguments->write = annotate_write_text;
	else if (!strcmp(text, "json"))
		arguments->write = annotate_write_json;
	else
		return option_reject(option, text, "text or json");
	return true;
}

static bool parse_stdio(const struct option *option, const char *text)
{
	(void)text;
	return parse_format(option, "text");
}

static bool parse_style(const struct option *option, const char *text)
{
	*(bool *)option->value = !strcmp(text, "intel");
	return !strcmp(text, "intel") || !strcmp(text, "att") ||
	       option_reject(option, text, "att or intel");
}

static bool parse_percent_type(const struct option *option, const char *text)
{
	*(bool *)option->value = !strcmp(text, "global-period");
	return !strcmp(text, "global-period") || !strcmp(text, "local-period") ||
	       option_reject(option, text, "local-period or global-period");
}

static void add_options(struct annotate_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("Code:"),
		OPTION_STRING('s', "symbol", "FUNCTION", &a->function,
			      "show FUNCTION, as named in a report (also as an operand)"),
		OPTION_CALL('M', "disassembler-style", "STYLE", &a->intel, parse_style,
			    "write x86 instructions in the style att (default) or intel"),
		OPTION_CHOICE(0, "source", &a->source, "show functions and source lines"),
		OPTION_FLAG(0, "asm-raw", &a->codes, "show the bytes of instructions"),
		OPTION_FLAG(0, "whole", &a->whole,
			    "show all instructions of functions above 16 KiB, too"),
		OPTION_FLAG('n', "show-nr-samples", &a->samples, "show numbers of samples"),
		OPTION_CALL(0, "percent-type", "TYPE", &a->is_global, parse_percent_type,
			    "show shares of the function (local-period, default) or of the event "
			    "(global-period)"),
	};
	const struct option output[] = {
		OPTION_GROUP("Output:"),
		OPTION_CALL(0, "format", "FORMAT", a, parse_format, "write text (default) or json"),
		OPTION_STRING('o', "output", "FILE", &a->file, "write to FILE"),
		OPTION_CALL(0, "stdio", NULL, a, parse_stdio, "same as --format text",
			    .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
	input_options_add_filter(&a->selection, table);
	OPTION_TABLE_ADD(table, output);
	input_options_add_output(&a->selection, table);
	input_options_add_read(&a->selection, table);
}

static int annotate_run(struct sp_ctx *ctx, int argc, char **argv)
{
	static const struct option_refusal refused[] = {
		{0, "tui", "sprof has no browser; text goes to a pager on a terminal"},
		{0, "gtk", "use 'sprof report --source -o report.html'"},
		{0, "objdump", "sprof disassembles without objdump"},
		{0, "addr2line", "sprof reads debug information itself"},
		{'l', "print-line", "lines are shown, unless --no-source is given"},
		{'m', "modules", "modules always have symbols of their files"},
		{0, NULL, NULL},
	};
	static const char *const synopses[] = {"sprof annotate [OPTION]... [FUNCTION]", NULL};
	struct annotate_arguments arguments = {.source = -1, .write = annotate_write_text};
	struct option_table table = {.count = 0};
	input_options_init(&arguments.selection);
	add_options(&arguments, &table);
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Shows the instructions and source lines of a function, with the samples "
			 "of each.\n"
			 "Without FUNCTION: of the hottest one.",
		.example = "sprof annotate main",
		.options = table.items,
		.refusals = refused,
	};
	int operand, status = options_parse(&usage, argc, argv, &operand);
	if (status < 0 && argc - operand > (arguments.function ? 0 : 1)) {
		diag_say("annotate shows one function: sprof annotate [OPTION]... [FUNCTION]");
		status = EXIT_USAGE;
	}
	if (status < 0 && operand < argc)
		arguments.function = argv[operand];
	const struct input_run run = {
		.selection = &arguments.selection,
		.read = annotate_recordings,
		.arguments = &arguments,
	};
	if (status < 0)
		status = input_run(&run, ctx);
	input_options_deinit(&arguments.selection);
	return status;
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "show the hot instructions and source lines of a function",
	.run = annotate_run,
};
