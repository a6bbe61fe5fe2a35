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
#include "input.h"
#include "memory.h"
#include "nearest.h"
#include "out/format_value.h"
#include "pager.h"
#include "progress.h"
#include "text.h"

/* Most functions that a message lists. */
#define LISTED 5

struct annotate_arguments {
	struct selection selection;
	const char *function; /* NULL: the hottest one */
	const char *file;     /* value of -o; NULL: standard output */
	struct annotate_request request;
	int source;	      /* -1: not given */
	bool codes, samples;
	void (*write)(const struct annotated *annotated, FILE *out);
};

/* An analysis by function, or by instruction of one. */
struct functions_analysis {
	struct sp_analysis *analysis;
	const struct sp_profile *profile; /* the shown event's */
	size_t index;			  /* number of the profile */
};

/* Chooses the event with the most samples of those that are wanted. */
static void choose_event(const struct annotate_arguments *arguments,
			 struct functions_analysis *found)
{
	size_t others = 0;
	for (size_t i = 0; i < sp_analysis_profile_count(found->analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(found->analysis, i);
		if (!profile->row_count ||
		    !input_options_has_event(&arguments->selection, profile->event))
			continue;
		others += found->profile != NULL;
		if (!found->profile || profile->shown_samples > found->profile->shown_samples) {
			found->profile = profile;
			found->index = i;
		}
	}
	if (others && !arguments->selection.quiet)
		diag_print(
			"shown is the event with the most samples, %s (-e EVENT chooses another)",
			found->profile->event);
}

/* Returns whether the row is a symbol's own code, with samples. */
static bool has_code(const struct sp_row *row)
{
	return !row->inlined && row->self.samples;
}

/* Lists the first rows, of those with code or of all, by share, symbol and file. */
static void list_rows(const struct sp_profile *profile, bool coded)
{
	char share[FORMAT_SIZE];
	size_t count = 0;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if ((has_code(row) || !coded) && count++ < LISTED)
			diag_more("%7s  %s  %s", format_share(row->self.share.value, share),
				  row->symbol, row->dso);
	}
	if (count > LISTED)
		diag_more("and %zu more", count - LISTED);
}

/* Prints a command that shows another function. */
static void print_command(const struct annotate_arguments *arguments, const char *function)
{
	char *command = input_command("sprof annotate", arguments->selection.input);
	command = text_append_word(command, function);
	diag_more("%s", command);
	free(command);
}

/*
 * Prints which functions contain a function that is always inlined, and its share in the file where
 * it is hottest. Returns their number.
 */
static size_t print_callers(const struct annotate_arguments *arguments,
			    const struct sp_profile *profile, size_t listed)
{
	char share[FORMAT_SIZE];
	const char *dso = NULL;
	double sum = 0;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		dso = dso ?: row->inlined ? row->dso : NULL;
		sum += dso && !strcmp(dso, row->dso) ? row->self.share.value : 0;
	}
	for (size_t i = 0; i < profile->row_count && listed < LISTED; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (!row->inlined)
			continue;
		if (!listed++)
			diag_print("%s (self %s of %s in %s) is always inlined; it is in:",
				   arguments->function, format_share(sum, share), profile->event,
				   dso);
		print_command(arguments, row->symbol);
	}
	return listed;
}

/* Prints the command for a Python function's lines. Returns 1 if the row is of one. */
static size_t print_python(const struct annotate_arguments *arguments,
			   const struct sp_profile *profile, size_t listed)
{
	const struct sp_row *row = profile->row_count ? sp_profile_row(profile, 0) : NULL;
	char share[FORMAT_SIZE];
	if (!row || listed || strcmp(row->dso, "[python]"))
		return listed;
	diag_print("%s (self %s of %s) is a Python function, which has no instructions; its lines:",
		   arguments->function, format_share(row->self.share.value, share), profile->event);
	char *command = input_command("sprof report", arguments->selection.input);
	/* With the libraries that the lines call, which may be nearly all of their time. */
	if (row->own_code)
		command = text_append_word(command, "--my-code");
	command = text_append_word(text_append_word(command, "-s"), "srcline");
	command = text_append_word(text_append_word(command, "-S"), arguments->function);
	diag_more("%s", command);
	free(command);
	return 1;
}

/*
 * Prints functions with a name that contains the given one, or else the one with the nearest name.
 * Returns their number.
 */
static size_t print_similar(const struct annotate_arguments *arguments,
			    const struct sp_profile *profile, size_t listed)
{
	struct nearest nearest = {0};
	for (size_t i = 0; i < profile->row_count && listed < LISTED; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		if (row->symbol_known)
			nearest_add(&nearest, arguments->function, strlen(arguments->function),
				    row->symbol);
		if (!strstr(row->symbol, arguments->function))
			continue;
		if (!listed++)
			diag_print("no function is named %s; similar are:", arguments->function);
		print_command(arguments, row->symbol);
	}
	if (listed || !nearest.name)
		return listed;
	diag_print("no function is named %s; the nearest name is %s:", arguments->function,
		   nearest.name);
	print_command(arguments, nearest.name);
	return 1;
}

/* A kind of function that the given name may mean. */
struct guess {
	const enum sp_key *keys;
	size_t key_count;
	bool named; /* only functions of this name */
	enum annotate_folding folding;
	/* Prints functions of a profile, after `listed` others. Returns the number of all. */
	size_t (*print)(const struct annotate_arguments *arguments,
			const struct sp_profile *profile, size_t listed);
};

static const enum sp_key caller_keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL, SP_KEY_FUNCTION};
static const enum sp_key report_keys[] = {SP_KEY_DSO, SP_KEY_FUNCTION};
static const enum sp_key symbol_keys[] = {SP_KEY_SYMBOL};

static const struct guess guesses[] = {
	{caller_keys, 3, true, ANNOTATE_FOLDED, print_callers},
	{report_keys, 2, true, ANNOTATE_FOLDED, print_python},
	{caller_keys, 3, true, ANNOTATE_UNFOLDED, print_callers},
	{symbol_keys, 1, false, ANNOTATE_UNFOLDED, print_similar},
};

/* Analyses again, and prints functions for which the user may have meant the given name. */
static size_t print_guess(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
			  const struct recordings *recordings, const struct guess *guess)
{
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows),
		.keys = guess->keys,
		.key_count = guess->key_count,
		.order_by_self = true,
	};
	struct sp_analysis *analysis = NULL;
	size_t listed = 0;
	sp_error_free(annotate_analyse(&arguments->request, ctx, recordings,
				       guess->named ? arguments->function : NULL, &rows,
				       guess->folding, &analysis));
	for (size_t i = 0; analysis && i < sp_analysis_profile_count(analysis); i++)
		listed = guess->print(arguments, sp_analysis_profile(analysis, i), listed);
	sp_analysis_free(analysis);
	return listed;
}

/* Prints the symbols that have a function's code: the first one is shown. */
static void print_symbols(const char *function, const struct sp_profile *profile,
			  const struct sp_row *first)
{
	size_t count = 0;
	for (size_t i = 0; i < profile->row_count; i++)
		count += has_code(sp_profile_row(profile, i));
	if (count == 1) {
		diag_print("shown is %s, which has the code of %s", first->symbol, function);
		return;
	}
	diag_print("%s has code in %zu symbols; shown is the first:", function, count);
	list_rows(profile, true);
}

/*
 * Returns the hottest symbol with code of a function of the debug information, which may have
 * another name, such as that of a clone. Lists such symbols. The caller frees it. NULL: there is
 * none.
 */
static char *find_symbol(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
			 const struct recordings *recordings)
{
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows), .keys = caller_keys, .key_count = 3, .order_by_self = true};
	struct sp_analysis *analysis = NULL;
	char *symbol = NULL;
	if (!arguments->function)
		return NULL;
	sp_error_free(annotate_analyse(&arguments->request, ctx, recordings, arguments->function,
				       &rows, ANNOTATE_UNFOLDED, &analysis));
	for (size_t i = 0; analysis && i < sp_analysis_profile_count(analysis) && !symbol; i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		for (size_t j = 0; j < profile->row_count && !symbol; j++) {
			const struct sp_row *row = sp_profile_row(profile, j);
			if (!has_code(row))
				continue;
			symbol = xstrdup(row->symbol);
			if (!arguments->selection.quiet)
				print_symbols(arguments->function, profile, row);
		}
	}
	sp_analysis_free(analysis);
	return symbol;
}

/* Prints why no function matches. */
static void print_no_match(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
			   const struct recordings *recordings)
{
	size_t guess = 0, count = sizeof(guesses) / sizeof(*guesses);
	if (!arguments->function && input_options_is_filtered(&arguments->selection)) {
		diag_print("no samples pass the filters");
		return;
	}
	while (arguments->function && guess < count &&
	       !print_guess(arguments, ctx, recordings, &guesses[guess]))
		guess++;
	if (arguments->function && guess < count)
		return;
	char *command = input_command("sprof report", arguments->selection.input);
	if (arguments->function)
		diag_print("no sample is in a function %s; '%s' lists the functions",
			   arguments->function, command);
	else
		diag_print("no samples; '%s' prints the reason", command);
	free(command);
}

/* Writes the annotation of a function. */
static int write_function(const struct annotate_arguments *arguments,
			  const struct annotated *annotated)
{
	bool paged = arguments->selection.pager != 0 && arguments->write == annotate_write_text;
	struct pager pager = pager_open(arguments->file, paged);
	if (!pager.out)
		return 1;
	arguments->write(annotated, pager.out);
	return pager_close(&pager);
}

/*
 * Returns the function's row in a profile as the report makes it; NULL: there is none. Code made at
 * run time has no identity, and may have several symbols for one function.
 */
static const struct sp_row *find_reported(const struct sp_profile *profile, const char *name,
					  const struct sp_row *function)
{
	for (int by_name = 1; by_name >= 0; by_name--) {
		for (size_t i = 0; i < profile->row_count; i++) {
			const struct sp_row *row = sp_profile_row(profile, i);
			const struct sp_identity *a = row->identity, *b = function->identity;
			if (strcmp(row->dso_path, function->dso_path) ||
			    row->level != function->level)
				continue;
			if (by_name ? !strcmp(row->function, name)
				    : a && b && a->address && a->address == b->address)
				return row;
		}
	}
	return NULL;
}

static int annotate_function(const struct annotate_arguments *arguments, struct sp_ctx *ctx,
			     const struct recordings *recordings,
			     const struct functions_analysis *found)
{
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows), .keys = report_keys, .key_count = 2};
	const struct sp_row *function = sp_profile_row(found->profile, 0), *reported = NULL;
	const char *name = arguments->function ?: function->symbol;
	struct sp_analysis *analysis = NULL;
	struct annotate_code code = {0};
	int status = 1;
	struct sp_error *error = annotate_analyse(&arguments->request, ctx, recordings, name, &rows,
						  ANNOTATE_FOLDED, &analysis);
	if (!error) {
		reported = find_reported(sp_analysis_profile(analysis, found->index), name,
					 function);
		error = annotate_code_make(&arguments->request, ctx, recordings, function,
					   found->index, &code);
	}
	if (error) {
		char share[FORMAT_SIZE];
		double value = (reported ?: function)->self.share.value;
		diag_error(error);
		diag_more("%s has %s of %s", name, format_share(value, share),
			  found->profile->event);
	}
	if (code.annotation) {
		code.annotated.reported = reported;
		code.annotated.codes = arguments->codes;
		code.annotated.samples = arguments->samples;
		code.annotated.quiet = arguments->selection.quiet;
		code.annotated.waits = recordings_have_waits(recordings->items, recordings->count);
		code.annotated.term = term_of_output(arguments->file, TERM_COLOUR_AUTO);
		status = write_function(arguments, &code.annotated);
	}
	annotate_code_deinit(&code);
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
	struct sp_error *error =
		annotate_analyse(&arguments->request, ctx, recordings, arguments->function, &rows,
				 ANNOTATE_UNFOLDED, &found.analysis);
	progress_end(&progress);
	int status = 1;
	if (error) {
		diag_error(error);
		return 1;
	}
	choose_event(arguments, &found);
	char *symbol = found.profile ? NULL : find_symbol(arguments, ctx, recordings);
	if (symbol) {
		sp_analysis_free(found.analysis);
		found.analysis = NULL;
		error = annotate_analyse(&arguments->request, ctx, recordings, symbol, &rows,
					 ANNOTATE_UNFOLDED, &found.analysis);
		free(symbol);
		if (error) {
			diag_error(error);
			return 1;
		}
		choose_event(arguments, &found);
	}
	if (found.profile) {
		if (arguments->function && found.profile->row_count > 1 &&
		    !arguments->selection.quiet) {
			diag_print("%zu functions match; shown is the hottest:",
				   found.profile->row_count);
			list_rows(found.profile, false);
		}
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

static void add_options(struct annotate_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("Code:"),
		OPTION_STRING('s', "symbol", "FUNCTION", &a->function,
			      "show FUNCTION, as named in a report (also as an operand)"),
		OPTION_WORD('M', "disassembler-style", "STYLE", &a->request.intel, "att or intel",
			    "write x86 instructions in the style att (default) or intel"),
		OPTION_CHOICE(0, "source", &a->source, "show functions and source lines"),
		OPTION_FLAG(0, "asm-raw", &a->codes, "show the bytes of instructions"),
		OPTION_FLAG(0, "whole", &a->request.whole,
			    "show all instructions of functions above 16 KiB, too"),
		OPTION_FLAG('n', "show-nr-samples", &a->samples, "show numbers of samples"),
		OPTION_WORD(0, "percent-type", "TYPE", &a->request.is_global,
			    "local-period or global-period",
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
		{0, "tui", "'sprof browse' shows code (key a); text goes to a pager on a terminal"},
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
		diag_print("annotate shows one function: sprof annotate [OPTION]... [FUNCTION]");
		status = EXIT_USAGE;
	}
	if (status < 0 && operand < argc)
		arguments.function = argv[operand];
	if (status < 0 && operand < argc && options_reject_recording(argv[operand], "use -i"))
		status = EXIT_USAGE;
	arguments.request.selection = &arguments.selection;
	arguments.request.source = arguments.source != 0;
	const struct recordings_run run = {
		.selection = &arguments.selection,
		.read = annotate_recordings,
		.arguments = &arguments,
	};
	if (status < 0)
		status = recordings_run(&run, ctx);
	input_options_deinit(&arguments.selection);
	return status;
}

const struct command command_annotate = {
	.name = "annotate",
	.summary = "show the hot instructions and source lines of a function",
	.run = annotate_run,
};
