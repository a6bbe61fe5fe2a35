/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the command line of sprof report. */
#include "cmd/report_arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "diag.h"

void report_arguments_deinit(struct report_arguments *arguments)
{
	selection_deinit(&arguments->selection);
}

static bool parse_format(const struct option *option, const char *text)
{
	const struct output **output = option->value;
	const struct output *found = output_find(text);
	if (!found)
		return option_reject(option, text, "text, json, csv or folded");
	*output = found;
	return true;
}

static bool parse_stdio(const struct option *option, const char *text)
{
	(void)text;
	*(const struct output **)option->value = &output_text;
	return true;
}

static bool text_percent(const char *text, char **end, double *ret)
{
	*ret = strtod(text, end) / 100;
	return *end != text && isfinite(*ret) && *ret >= 0 && *ret <= 1;
}

static bool parse_limit(const struct option *option, const char *text)
{
	double limit;
	char *end;
	if (!text_percent(text, &end, &limit) || (*end && strcmp(end, "%") != 0))
		return option_reject(option, text, "a percentage of 0 to 100");
	*(double *)option->value = limit;
	return true;
}

/*
 * "caller", "callee", "none"; "function" and "srcline", what nodes are by; and of perf's
 * forms "graph" and a threshold; by commas.
 */
static bool parse_tree(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	char *copy = strdup(text ? text : "caller"), *rest = copy, *word, *end;
	bool fine = copy;
	if (arguments->tree == SP_TREE_NONE)
		arguments->tree = SP_TREE_CALLER;
	while (fine && (word = strsep(&rest, ","))) {
		if (!strcmp(word, "none"))
			arguments->tree = SP_TREE_NONE;
		else if (!strcmp(word, "caller"))
			arguments->tree = SP_TREE_CALLER;
		else if (!strcmp(word, "callee"))
			arguments->tree = SP_TREE_CALLEE;
		else if (!strcmp(word, "function") || !strcmp(word, "srcline"))
			arguments->tree_lines = !strcmp(word, "srcline");
		else if (strcmp(word, "graph") != 0)
			fine = text_percent(word, &end, &arguments->limit) && !*end;
	}
	free(copy);
	return fine || option_reject(option, text, "caller, callee or none");
}

static bool parse_inverted(const struct option *option, const char *text)
{
	(void)text;
	((struct report_arguments *)option->value)->tree = SP_TREE_CALLER;
	return true;
}

static bool parse_percentage(const struct option *option, const char *text)
{
	bool *relative = option->value;
	*relative = !strcmp(text, "relative");
	return *relative || !strcmp(text, "absolute") ||
	       option_reject(option, text, "absolute or relative");
}

static bool parse_colour(const struct option *option, const char *text)
{
	static const char *const names[] = {"auto", "always", "never"};
	for (size_t i = 0; i < 3; i++) {
		if (!strcmp(text, names[i])) {
			*(enum term_colour *)option->value = (enum term_colour)i;
			return true;
		}
	}
	return option_reject(option, text, "auto, always or never");
}

/* "10ms"; a number alone is in nanoseconds, as perf's. */
static bool parse_quantum(const struct option *option, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double number = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double ns = number * units[i].ns;
		if (end == text || strcmp(end, units[i].name) != 0 || !(ns >= 1 && ns < 1e18))
			continue;
		*(uint64_t *)option->value = (uint64_t)ns;
		return true;
	}
	return option_reject(option, text, "a time such as 100ms (ns, us, ms or s)");
}

/* Tables are all that there is of the options: their names, values and help. */
#define MAX_OPTIONS 60

static size_t shown_options(struct report_arguments *a, struct option *to)
{
	const struct option options[] = {
		OPTION_GROUP("What is shown:"),
		OPTION_CALL(0, "format", "FORMAT", &a->output, parse_format,
			    "text (for people), json, csv, or folded (for flame graphs)"),
		OPTION_CALL(0, "stdio", NULL, &a->output, parse_stdio, "--format text"),
		OPTION_CALL('s', "sort", "KEYS", a, report_keys_parse,
			    "make rows by these: comm, pid, tid, cpu, dso, symbol (or sym),\n"
			    "function, srcfile, srcline, event, and those of branches, memory\n"
			    "and others that the manual page lists; +KEY adds to the default,\n"
			    "comm,dso,function"),
		OPTION_CHOICE('b', "branch-stack", &a->branches,
			      "count the branches of branch stacks: the default where these\n"
			      "were recorded; or samples"),
		OPTION_CHOICE(0, "group", &a->group,
			      "show events side by side, and their ratios: the default for\n"
			      "those that were recorded as a group; with --group, for all"),
		OPTION_FLAG(0, "mem-mode", &a->memory,
			    "weigh samples by the latency of their memory access, and make\n"
			    "rows by what is known of that"),
		OPTION_CALL(0, "time-quantum", "TIME", &a->time_quantum_ns, parse_quantum,
			    "steps of the key time, such as 1s, 10ms (the default is 100ms)"),
		OPTION_CHOICE(0, "inline", &a->selection.inlines,
			      "inlined functions are functions of their own (the default); or\n"
			      "are part of their symbol, and no debug information is read"),
		OPTION_CHOICE(0, "children", &a->children,
			      "count a function's callees too, as its total, and order by\n"
			      "that; the default where call chains were recorded"),
		OPTION_CALL_OPTIONAL('g', "call-graph", "ORDER", a, parse_tree,
				     "show the call tree: caller (from the outermost down, if\n"
				     "not said), callee (from the function up), or none; with\n"
				     ",srcline by source lines, too"),
		OPTION_CALL('G', "inverted", NULL, a, parse_inverted, "--call-graph caller"),
		OPTION_FLAG(0, "collapse-recursion", &a->collapse_recursion,
			    "show one round of calls that repeat in the tree"),
		OPTION_FLAG(0, "full-source-path", &a->selection.whole_paths,
			    "source files by their whole path"),
		OPTION_CALL(0, "percent-limit", "PERCENT", &a->limit, parse_limit,
			    "leave out smaller shares; as text, trees have 0.5"),
		OPTION_CALL(0, "percentage", "OF", &a->relative, parse_percentage,
			    "shares of all (absolute), or of what the filters let pass\n"
			    "(relative)"),
		OPTION_FLAG('n', "show-nr-samples", &a->samples,
			    "as perf's; samples are always shown"),
	};
	return option_put(to, options, sizeof(options));
}

static size_t how_options(struct report_arguments *a, struct option *to)
{
	const struct option options[] = {
		OPTION_GROUP("How:"),
		OPTION_CALL(0, "color", "WHEN", &a->colour, parse_colour,
			    "auto (on a terminal), always or never"),
	};
	size_t count = option_put(to, options, sizeof(options));
	return count + selection_how_options(&a->selection, to + count);
}

static int parse_table(struct report_arguments *a, int argc, char **argv)
{
	struct option options[MAX_OPTIONS + 1] = {{0}};
	size_t count = selection_read_options(&a->selection, options);
	count += shown_options(a, options + count);
	count += selection_filter_options(&a->selection, options + count);
	count += how_options(a, options + count);
	options[count] = (struct option){0}; /* OPTION_END */
	const struct option_usage usage = {
		.synopses = (const char *const[]){"sprof report [OPTION]...", NULL},
		.about = "Shows where a recording's samples are: its hot functions, its call tree.",
		.options = options,
	};
	int operands, status = options_parse(&usage, argc, argv, &operands);
	if (status >= 0 || operands == argc)
		return status;
	diag_say("report takes no operand: '%s' (-i FILE names the recording)", argv[operands]);
	return EXIT_USAGE;
}

int report_arguments_parse(struct report_arguments *arguments, int argc, char **argv)
{
	*arguments = (struct report_arguments){
		.output = outputs[0],
		.children = -1,
		.branches = -1,
		.group = -1,
		.limit = -1,
	};
	selection_init(&arguments->selection);
	return parse_table(arguments, argc, argv);
}
