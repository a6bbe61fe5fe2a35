/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains why what an option names has no samples. A function is only a caller, for which other
 * options exist, or a name is misspelt. A second analysis, without the options that select by such
 * names, decides this.
 */
#include <stdlib.h>
#include <string.h>
#include "cmd/report/arguments.h"
#include "diag.h"
#include "nearest.h"

/*
 * Result of searching a function's name in the rows: its number of samples, and the nearest other name.
 */
struct found {
	const char *name; /* name as in the rows; NULL: no row has it */
	uint64_t samples;
	struct nearest nearest;
};

static const char *name_of(const struct sp_row *row)
{
	return row->function ?: row->symbol;
}

/* Returns whether `name` is the wanted name, optionally with parameters or template arguments. */
static bool has_name(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);
	return !strncmp(name, wanted, size) && (!name[size] || strchr("(<", name[size]));
}

static struct found find_name(const struct sp_analysis *analysis, const char *wanted)
{
	struct found found = {0};
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		for (size_t j = 0; j < profile->row_count; j++) {
			const char *name = name_of(&profile->rows[j]);
			if (name && has_name(name, wanted)) {
				found.name = name;
				found.samples += profile->rows[j].total.samples;
			} else if (name && profile->rows[j].symbol_known) {
				nearest_add(&found.nearest, wanted, strlen(wanted), name);
			}
		}
	}
	return found;
}

/* Returns a regular expression that matches the text literally. NULL when out of memory. */
static char *expression_of(const char *text)
{
	char *expression = malloc(2 * strlen(text) + 1), *end = expression;
	for (; expression && *text; text++) {
		if (strchr(".[]()*+?{}|^$\\", *text))
			*end++ = '\\';
		*end++ = *text;
	}
	if (expression)
		*end = 0;
	return expression;
}

static void report_name(const struct sp_analysis *analysis, const char *wanted)
{
	struct found found = find_name(analysis, wanted);
	char *expression = found.name ? expression_of(wanted) : NULL;
	unsigned long long samples = found.samples;
	if (found.name && expression)
		diag_say("no sample has %s as its sampled function; %llu sample%s pass%s through it: "
			 "use --focus '^%s%s'", wanted, samples, samples == 1 ? "" : "s",
			 samples == 1 ? "es" : "", expression, strcmp(found.name, wanted) ? "" : "$");
	else if (!found.name && found.nearest.name)
		diag_say("no stack has a function %s; the nearest name is %s", wanted,
			 found.nearest.name);
	else if (!found.name)
		diag_say("no stack has a function %s; 'sprof report -s function' lists all", wanted);
	free(expression);
}

/* Reports the names of a list that no row has. */
static void report_keys(const struct sp_analysis *analysis, const struct option_strings *wanted,
			enum sp_key key)
{
	for (size_t i = 0; i < wanted->count; i++) {
		const char *name = wanted->items[i];
		struct nearest nearest = {0};
		for (size_t j = 0; j < sp_analysis_profile_count(analysis); j++) {
			const struct sp_profile *profile = sp_analysis_profile(analysis, j);
			for (size_t k = 0; k < profile->row_count; k++)
				nearest_add(&nearest, name, strlen(name),
					    row_text(&profile->rows[k], key));
		}
		const char *what = key == SP_KEY_COMM ? "thread" : "program or library";
		if (nearest.name)
			diag_say("no %s is named %s; the nearest name is %s", what, name,
				 nearest.name);
		else
			diag_say("no %s is named %s; 'sprof report -s %s' lists all", what, name,
				 key == SP_KEY_COMM ? "comm" : "dso");
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

void report_missing_names(const struct report_arguments *arguments, struct sp_ctx *ctx,
			  const struct recordings *recordings,
			  const struct sp_analysis *analysis)
{
	const struct selection *selection = &arguments->selection;
	const char *root = arguments->callers ?: arguments->callees;
	bool by_function = selection->symbols.count || (root && *root != '/');
	const enum sp_key key = !by_function ? selection->comms.count ? SP_KEY_COMM : SP_KEY_DSO
				: selection->inlines ? SP_KEY_FUNCTION
						     : SP_KEY_SYMBOL;
	const struct sp_analysis_rows rows = {.size = sizeof(rows), .keys = &key, .key_count = 1,
					      .children = true};
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
	    !(by_function || selection->comms.count || selection->dsos.count))
		return;
	filter.symbols = (struct sp_string_list){0};
	if (key == SP_KEY_COMM)
		filter.comms = (struct sp_string_list){0};
	else if (key == SP_KEY_DSO)
		filter.dsos = (struct sp_string_list){0};
	struct sp_error *error = sp_analysis_sum(ctx, recordings->items, recordings->count,
						 &options, &all);
	if (error) {
		diag_error(error);
		return;
	}
	for (size_t i = 0; i < selection->symbols.count; i++)
		report_name(all, selection->symbols.items[i]);
	if (!selection->symbols.count && by_function)
		report_name(all, root);
	if (key == SP_KEY_COMM)
		report_keys(all, &selection->comms, key);
	else if (key == SP_KEY_DSO)
		report_keys(all, &selection->dsos, key);
	sp_analysis_free(all);
}
