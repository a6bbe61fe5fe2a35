/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the command line of sprof report. */
#include "cmd/report_arguments.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "diag.h"

void report_arguments_deinit(struct report_arguments *arguments)
{
	report_fields_deinit(arguments);
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

static bool parse_limit(const struct option *option, const char *text)
{
	double limit;
	char *end;
	if (!option_text_percent(text, &end, &limit) || (*end && strcmp(end, "%") != 0))
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
			fine = option_text_percent(word, &end, &arguments->limit) && !*end;
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

static bool parse_parent(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	regex_t regex;
	if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB))
		return option_reject(option, text, "a regular expression (extended)");
	regfree(&regex);
	arguments->parent = text;
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

static void add_shown(struct report_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("What is shown:"),
		OPTION_CALL(0, "format", "FORMAT", &a->output, parse_format,
			    "text (for people), json, csv, or folded (for flame graphs)"),
		OPTION_CALL(0, "stdio", NULL, &a->output, parse_stdio, "--format text"),
		OPTION_CALL('s', "sort", "KEYS", a, report_keys_parse,
			    "make rows by these: comm, pid, tid, cpu, dso, symbol (or sym),\n"
			    "function, srcfile, srcline, event, those of branches, memory and\n"
			    "others that the manual page lists, and fields of tracepoints;\n"
			    "+KEY adds to the default, comm,dso,function"),
		OPTION_CALL('F', "fields", "FIELDS", a, report_fields_parse,
			    "columns of the text, in their order: overhead (self),\n"
			    "overhead_children (total), interval, sample, period, and keys,\n"
			    "by which rows are made"),
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
		OPTION_CALL('p', "parent", "REGEX", a, parse_parent,
			    "make rows by the nearest function on the stack that matches this,\n"
			    "too; -s parent has \"^sys_|^do_page_fault\""),
		OPTION_FLAG('x', "exclude-other", &a->exclude_other,
			    "leave out samples that have no parent"),
		OPTION_FLAG(0, "raw-trace", &a->raw_trace,
			    "the key trace, and fields, as their bytes say, and not as the\n"
			    "tracepoint's own text has them"),
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
		OPTION_NUMBER(0, "max-stack", "N", &a->max_stack,
			      "look at no more than N frames of a stack, from the sampled\n"
			      "function up"),
		OPTION_FLAG(0, "full-source-path", &a->selection.whole_paths,
			    "source files by their whole path"),
		OPTION_CALL(0, "percent-limit", "PERCENT", &a->limit, parse_limit,
			    "leave out smaller shares; as text, trees have 0.5"),
		OPTION_CALL(0, "percentage", "OF", &a->relative, parse_percentage,
			    "shares of all (absolute), or of what the filters let pass\n"
			    "(relative)"),
		OPTION_FLAG(0, "header", &a->header, "what the header says, before all else"),
		OPTION_FLAG(0, "header-only", &a->header_only, "what the header says alone"),
		OPTION_FLAG('n', "show-nr-samples", &a->samples,
			    "as perf's; samples are always shown"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_how(struct report_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("How:"),
		OPTION_CALL(0, "color", "WHEN", &a->colour, parse_colour,
			    "auto (on a terminal), always or never"),
	};
	OPTION_TABLE_ADD(table, group);
	selection_add_how(&a->selection, table);
}

#define TRACES "it takes a decoder of processor traces, which there is not; 'perf report' has one"
#define ANNOTATES "it is of perf's browser, which shows code; 'sprof script -F disasm' does"

/* perf's. */
static const struct option_refusal refused[] = {
	{'D', "dump-raw-trace", "it is of 'sprof script'"},
	{0, "disable-order", "it is not needed: samples need no order to be counted"},
	{'I', "show-info", "it is --header, which has all of it; see 'sprof info', too"},
	{0, "stats", "it is 'sprof info', which counts records"},
	{0, "tasks", "it is 'sprof script --show-task-events'"},
	{0, "mmaps", "it is 'sprof script --show-mmap-events'"},
	{'t', "field-separator", "it is --format csv"},
	{'w', "column-widths", "it is not needed: columns are as wide as what is in them"},
	{'H', "hierarchy", "several keys of --sort make a row of each combination"},
	{'T', "threads", "it takes 'record -s'; 'sprof script --format json' has its READ records"},
	{'U', "hide-unresolved", "it would hide what is not known; -S names functions"},
	{0, "ignore-callees", "it takes a pattern; --children counts callees in the function's total"},
	{'m', "modules", "it is always done: modules are named by their files"},
	{'M', "disassembler-style", ANNOTATES},
	{0, "objdump", ANNOTATES},
	{0, "asm-raw", ANNOTATES},
	{0, "source", ANNOTATES},
	{0, "prefix", ANNOTATES},
	{0, "prefix-strip", ANNOTATES},
	{0, "percent-type", ANNOTATES},
	{0, "samples", ANNOTATES},
	{0, "tui", "it is perf's browser; text goes to a pager on a terminal"},
	{0, "gtk", "it is perf's browser; text goes to a pager on a terminal"},
	{0, "itrace", TRACES},
	{0, "branch-history", "it puts branches into call trees; -b counts them, by symbol_from and "
			      "symbol_to"},
	{0, "total-cycles", "it orders blocks between branches; 'sprof script -F brstackinsn' has "
			    "their cycles"},
	{0, "stitch-lbr", "it puts chains together from other samples' branches, which may be wrong"},
	{0, "latency", "it weighs by how many tasks ran at once, which is not computed"},
	{0, "parallelism", "it is of how many tasks ran at once, which is not computed"},
	{0, "socket-filter", "it is -C with the socket's processors; -s socket tells them apart"},
	{0, "symbol-filter", "it takes a part of a name; -S takes names"},
	{0, "show-total-period", "it is -F overhead,period,…; csv and json always have it"},
	{0, "show-cpu-utilization", "levels stand before each symbol"},
	{0, "show-ref-call-graph", "it shows another event's chains as this one's"},
	{0, "group-sort-idx", "rows are ordered as the group's first event"},
	{0, "skip-empty", "it is always done for events that only bring mappings"},
	{0, "ignore-vmlinux", "it is --vmlinux with another file, or --kallsyms"},
	{0, "demangle", "it is always done"},
	{0, "demangle-kernel", "it is always done"},
	{0, "addr2line", "it runs a program for each line; debug information is read here"},
	{0, "addr2line-style", "it runs a program for each line; debug information is read here"},
	{0, "unwind-style", "it is --unwinder (cfi, libunwind, none)"},
	{0, "pretty", "it is --format"},
	{0, "ns", "it is not needed: -s time has as many digits as --time-quantum"},
	{0, "stdio-color", "it is --color"},
	{0, "switch-on", "it takes what is between events; --time takes it by their times"},
	{0, "switch-off", "it takes what is between events; --time takes it by their times"},
	{0, "show-on-off-events", "it goes with --switch-on; --time takes a part of the recording"},
	{0, NULL, NULL},
};

static int parse_table(struct report_arguments *a, int argc, char **argv)
{
	struct option_table table = {0};
	selection_add_read(&a->selection, &table);
	add_shown(a, &table);
	selection_add_filter(&a->selection, &table);
	add_how(a, &table);
	const struct option_usage usage = {
		.synopses = (const char *const[]){"sprof report [OPTION]...", NULL},
		.about = "Shows where a recording's samples are: its hot functions, its call tree.",
		.options = table.items,
		.refusals = refused,
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
