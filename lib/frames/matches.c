/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/matches.h"

#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "frames/shown_names.h"

/* perf's default of --parent. */
#define DEFAULT_PARENT "^sys_|^do_page_fault"

#define NO_CALLER "[no recorded caller]"

/* Returns whether some filter rejects stacks by their functions. */
static bool matches_filter(const struct analysis_options *options)
{
	return options->filter.focus.count || options->filter.ignore.count || options->stacks.callers ||
	       options->stacks.callees;
}

bool matches_wanted(const struct analysis_options *options, bool parent)
{
	return parent || matches_filter(options);
}

static struct sp_error *add_pattern(struct matches *matches, const char *text, uint8_t bit)
{
	char why[128];
	struct name_pattern *pattern = vec_push(&matches->patterns);
	NEED(pattern);
	*pattern = (struct name_pattern){.bit = bit, .text = text};
	/* Other parentheses are the expression's own. */
	pattern->whole = strstr(text, "\\(") || strstr(text, "[(]");
	int failed = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NOSUB);
	if (!failed)
		return NULL;
	matches->patterns.count--;
	if (failed == REG_ESPACE)
		return error_no_memory();
	regerror(failed, &pattern->regex, why, sizeof(why));
	return error_new(SP_ERROR_INVALID, "'%s' is no regular expression: %s", text, why);
}

static struct sp_error *add_patterns(struct matches *matches, const struct sp_string_list *texts,
				     uint8_t bit)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < texts->count; i++)
		error = add_pattern(matches, texts->items[i], bit);
	return error;
}

/* Adds the function of --callers or --callees: a name, or a regular expression between slashes. */
static struct sp_error *add_root(struct matches *matches, const char *text)
{
	size_t size = strlen(text);
	if (size < 2 || text[0] != '/' || text[size - 1] != '/') {
		matches->root = text;
		return NULL;
	}
	CLEANUP_FREE char *copy = strndup(text + 1, size - 2);
	TRY(copy ? add_pattern(matches, copy, MATCH_ROOT) : error_no_memory());
	vec_last(&matches->patterns)->text = NULL;
	return NULL;
}

struct sp_error *matches_init(struct matches *matches, const struct analysis_options *options,
			      bool parent)
{
	const char *root = options->stacks.callers ?: options->stacks.callees;
	matches->required = (options->filter.focus.count ? MATCH_FOCUS : 0) |
			    (root ? MATCH_ROOT : 0) |
			    (parent && options->rows.parent_only ? MATCH_PARENT : 0);
	matches->by_stack = matches_filter(options) || options->rows.parent_only;
	matches->no_caller = UINT32_MAX;
	TRY(add_patterns(matches, &options->filter.focus, MATCH_FOCUS));
	struct sp_error *error = add_patterns(matches, &options->filter.ignore, MATCH_IGNORE);
	if (!error && parent)
		error = add_pattern(matches, options->rows.parent ?: DEFAULT_PARENT, MATCH_PARENT);
	return error || !root ? error : add_root(matches, root);
}

void matches_deinit(struct matches *matches)
{
	vec_each (pattern, &matches->patterns)
		regfree(&pattern->regex);
	vec_deinit(&matches->patterns);
	free(matches->functions);
	free(matches->frames);
	free(matches->parents);
	*matches = (struct matches){0};
}

/* Returns whether a text names a function; `named` is NULL for code made at run time. */
static bool function_is(const char *name, const struct named *named, const char *text)
{
	return sp_name_fits(text, name) || (named && shown_name_is(named, text));
}

/*
 * Returns whether a pattern matches a name, or is the name as it may be shown. `named` is the
 * function, or NULL.
 */
static bool matches_name(const struct name_pattern *pattern, const char *name,
			 const struct named *named)
{
	if (!regexec(&pattern->regex, name, 0, NULL, 0))
		return true;
	if (pattern->text && function_is(name, named, pattern->text))
		return true;
	CLEANUP_FREE char *whole = named && pattern->whole ? shown_name_whole(named) : NULL;
	return whole && !regexec(&pattern->regex, whole, 0, NULL, 0);
}

static uint8_t bits_of(const struct matches *matches, const struct function *function)
{
	const char *name = function_name(function);
	const struct named *named = function_named(function);
	uint8_t bits = 0;
	vec_each (pattern, &matches->patterns) {
		if (!(bits & pattern->bit) && matches_name(pattern, name, named))
			bits |= pattern->bit;
	}
	if (matches->root && function_is(name, named, matches->root))
		bits |= MATCH_ROOT;
	return bits;
}

/*
 * Finds the innermost function of the frame that matches --parent, inlined ones included. *ret is its
 * index, or UINT32_MAX if none matches. Returns false when out of memory.
 */
static bool find_parent(struct matches *matches, const struct labels *labels, size_t frame,
			uint32_t *ret)
{
	const struct frame_labels *of = &labels->frames.items[frame];
	uint32_t symbol = labels->sides.items[frame].symbol;
	*ret = UINT32_MAX;
	for (uint32_t i = of->first + of->count; --i > of->first;) {
		uint32_t node = labels->items.items[i].node;
		struct function function = labels->nodes->items[node];
		if (!function.known || !(matches->functions[node] & MATCH_PARENT))
			continue;
		function.symbol = function.function;
		function.symbol_of = function.function_of;
		function.function = function.srcfile = NULL;
		function.function_of = NULL;
		function.line = 0;
		*ret = functions_add(labels->functions, &function);
		return *ret != UINT32_MAX;
	}
	const struct function *function = &labels->functions->items[symbol];
	if (function->known && bits_of(matches, function) & MATCH_PARENT)
		*ret = symbol;
	return true;
}

/* Computes the bits of all frames. Returns false when out of memory. */
static bool test_frames(struct matches *matches, const struct labels *labels, bool parent)
{
	for (size_t i = 0; i < labels->frames.count; i++) {
		const struct frame_labels *of = &labels->frames.items[i];
		uint8_t bits = 0;
		for (uint32_t j = of->first; j < of->first + of->count; j++)
			bits |= matches->functions[labels->items.items[j].node];
		matches->frames[i] = bits & (uint8_t)~MATCH_PARENT;
		if (!parent)
			continue;
		if (!find_parent(matches, labels, i, &matches->parents[i]))
			return false;
		matches->frames[i] |= matches->parents[i] == UINT32_MAX ? 0 : MATCH_PARENT;
	}
	return true;
}

/*
 * Adds the row for stacks in which the function of --callers has no caller. The text is its symbol or
 * function, or else its dso. no_caller stays UINT32_MAX if rows have no key of code. Returns false when
 * out of memory.
 */
static bool add_no_caller(struct matches *matches, struct functions *functions, const bool *keys)
{
	bool named = keys[SP_KEY_SYMBOL] || keys[SP_KEY_FUNCTION];
	const char *text = functions_text(functions, NO_CALLER);
	const char *dso = functions_text(functions, named ? DSO_UNKNOWN : NO_CALLER);
	if (!text || !dso)
		return false;
	if (!named && !keys[SP_KEY_DSO] && !keys[SP_KEY_SRCFILE] && !keys[SP_KEY_SRCLINE])
		return true;
	const struct function function = {
		.dso = dso,
		.dso_path = dso,
		.symbol = keys[SP_KEY_SYMBOL] ? text : NULL,
		.function = keys[SP_KEY_FUNCTION] ? text : NULL,
		.known = true,
	};
	matches->no_caller = functions_add(functions, &function);
	return matches->no_caller != UINT32_MAX;
}

struct sp_error *matches_find(struct matches *matches, const struct labels *labels,
			      const bool *keys)
{
	bool parent = keys[SP_KEY_PARENT];
	matches->functions = calloc(labels->nodes->count + 1, sizeof(*matches->functions));
	matches->frames = calloc(labels->frames.count + 1, sizeof(*matches->frames));
	if (parent)
		matches->parents = calloc(labels->frames.count + 1, sizeof(*matches->parents));
	if (!matches->functions || !matches->frames || (parent && !matches->parents))
		return error_no_memory();
	/*
	 * Computes the bits of all functions. Nodes of one function, one for each line, are
	 * neighbours: its name is tested once.
	 */
	for (size_t i = 0; i < labels->nodes->count; i++) {
		const struct function *function = &labels->nodes->items[i];
		bool again = i && function_name(function) == function_name(function - 1) &&
			     function_named(function) == function_named(function - 1);
		matches->functions[i] =
			again ? matches->functions[i - 1] : bits_of(matches, function);
	}
	if (!test_frames(matches, labels, parent) ||
	    (matches->required & MATCH_ROOT && !add_no_caller(matches, labels->functions, keys)))
		return error_no_memory();
	return NULL;
}
