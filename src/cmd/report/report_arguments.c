/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parser of the command line of `sprof report`. */
#include "cmd/report/report_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "diag.h"
#include "input.h"
#include "memory.h"

void report_arguments_deinit(struct report_arguments *arguments)
{
	report_fields_deinit(arguments);
	option_strings_deinit(&arguments->source_directories);
	input_options_deinit(&arguments->selection);
}

static bool parse_format(const struct option *option, const char *text)
{
	const struct output_format **output = option->value;
	const struct output_format *found = output_find(text);
	if (!found)
		return option_reject(option, text, OUTPUT_NAMES);
	*output = found;
	return true;
}

static bool parse_stdio(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	(void)text;
	arguments->output = &output_text;
	arguments->tui = false;
	return true;
}

/*
 * Parses --call-graph, a list of words: the order of the tree ("caller", "callee", "none"); what its
 * nodes are ("function", "srcline"); and, as in perf, "graph" and a percentage below which branches are
 * hidden.
 */
static bool parse_tree(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	char *copy = xstrdup(text ? text : "graph"), *rest = copy, *word, *end;
	bool fine = true;
	if (arguments->tree == SP_TREE_NONE)
		arguments->tree = SP_TREE_CALLER;
	while (fine && (word = strsep(&rest, ","))) {
		arguments->tree_ordered |= !strcmp(word, "caller");
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
	struct report_arguments *arguments = option->value;
	arguments->tree = SP_TREE_CALLER;
	arguments->tree_ordered = true;
	return true;
}

static bool parse_parent(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	arguments->parent = text;
	return input_options_check_regex(option, text);
}

/* Parses a function's name, or an expression between slashes. */
static bool parse_function(const struct option *option, const char *text)
{
	size_t size = strlen(text);
	*(const char **)option->value = text;
	if (size < 2 || text[0] != '/' || text[size - 1] != '/')
		return *text || option_reject(option, text, "a function, or /REGEX/");
	char *copy = xstrndup(text + 1, size - 2);
	bool fine = input_options_check_regex(option, copy);
	free(copy);
	return fine;
}

static bool parse_source(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	arguments->source = true;
	option_strings_add(&arguments->source_directories, text ?: "");
	return true;
}

/* Parses a time such as "10ms". Without a unit it is in ns, as in perf. */
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
		OPTION_GROUP("View:"),
		OPTION_CALL('s', "sort", "KEYS", a, report_keys_parse,
			    "group samples by comm, pid, tid, cpu, dso, symbol, function, srcfile, "
			    "srcline, event, ...; +KEY adds to comm,dso,function"),
		OPTION_CALL_OPTIONAL('g', "call-graph", "ORDER", a, parse_tree,
				     "print the call tree: caller (default) or callee"),
		OPTION_FLAG(0, "processes", &a->processes,
			    "print the tree of processes; with -g, begin call trees with them",
			    .rare = true),
		OPTION_FLAG(0, "full-command-lines", &a->command_lines,
			    "same as --processes, with whole command lines", .rare = true),
		OPTION_CALL(0, "mode", "MODE", &a->mode, report_mode_parse,
			    "weigh by cpu, wall, off-cpu or process latency"),
		OPTION_CALL(0, "latency", NULL, &a->mode, report_latency_parse,
			    "same as --mode latency: time until the process ends, not latency of "
			    "requests", .rare = true),
		OPTION_FLAG(0, "kernel-waits", &a->kernel_waits,
			    "show the kernel functions in which threads wait", .rare = true),
		OPTION_FLAG(0, "all-threads", &a->all_threads,
			    "show idle threads in modes wall, off-cpu, wakers, too", .rare = true),
		OPTION_CALL(0, "callers", "FUNCTION", &a->callers, parse_function,
			    "show the callers of FUNCTION; with -g as a tree"),
		OPTION_CALL(0, "callees", "FUNCTION", &a->callees, parse_function,
			    "show FUNCTION and its callees; with -g as a tree"),
		OPTION_CHOICE(0, "children", &a->children,
			      "order by total, which includes callees; --no-children: no totals"),
		OPTION_CHOICE(0, "inline", &a->selection.inlines,
			      "show inlined functions as functions (default)", .rare = true),
		OPTION_CHOICE(0, "interpreter-frames", &a->interpreter_frames,
			      "show the frames of Python's interpreter; "
			      "--no-interpreter-frames: in no format",
			      .rare = true),
		OPTION_FLAG(0, "my-code", &a->my_code,
			    "charge libraries and the kernel to your functions"),
		OPTION_FLAG('n', "show-nr-samples", &a->samples, "print the number of samples", .rare = true),
		OPTION_CALL('T', "threads", NULL, a, report_threads_parse,
			    "show each thread's time by state"),
		OPTION_CALL(0, "wakers", NULL, &a->mode, report_wakers_parse,
			    "show which threads woke which"),
		OPTION_WORD(0, "interval", "FOR", &a->interval, "within or between",
			    "show intervals within this run, or between runs (default: between "
			    "runs if a share varies, marked ~; * if that is too wide)",
			    .number = SHOWN_WITHIN, .rare = true),
		OPTION_CALL(0, "percent-limit", "MIN", &a->limit, option_parse_percent,
			    "hide rows and branches below MIN percent", .rare = true),
		OPTION_FLAG(0, "explain", &a->explain,
			    "say in 4 KB what is hot, since when, and why"),
		OPTION_NUMBER(0, "limit", "N", &a->most,
			      "show the N hottest rows of an event, and N nodes of its tree",
			      .rare = true),
		OPTION_CALL(0, "format", "FORMAT", &a->output, parse_format,
			    "write FORMAT: json, csv, pprof, firefox, ..."),
		OPTION_STRING('o', "output", "FILE", &a->file,
			    "write FILE in the format of its name (.html, ...)"),
		OPTION_CALL_ATTACHED(0, "source", "DIR,...", a, parse_source,
				     "show source lines in HTML, of files below DIR (default: .)",
				     .rare = true),
		OPTION_FLAG(0, "open", &a->open, "show the file in a browser, too", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

/* The rare options of the same group. */
static void add_rarely_shown(struct report_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_CHOICE('b', "branch-stack", &a->branches,
			      "count branches instead of samples", .rare = true),
		OPTION_CHOICE(0, "group", &a->group,
			      "show events side by side, with ratios such as IPC (default for "
			      "recorded groups)", .rare = true),
		OPTION_FLAG(0, "per-pmu", &a->per_pmu,
			    "show events of cpu_core and cpu_atom apart (default: add them up)",
			    .rare = true),
		OPTION_CALL('F', "fields", "FIELDS", a, report_fields_parse,
			    "print these columns, in this order: overhead, overhead_children, "
			    "interval, sample, period, on_ms, runnable_ms, blocked_ms, waits, "
			    "longest_ms, and keys of -s", .rare = true),
		OPTION_FLAG(0, "mem-mode", &a->memory,
			    "weight samples by memory access latency, and group them by memory "
			    "keys", .rare = true),
		OPTION_CALL(0, "time-quantum", "TIME", &a->time_quantum_ns, parse_quantum,
			    "set the step of the key time, such as 1s or 10ms (default: 100ms)",
			    .rare = true),
		OPTION_CALL('p', "parent", "REGEX", a, parse_parent,
			    "group samples by the nearest caller that matches REGEX, too",
			    .rare = true),
		OPTION_FLAG('x', "exclude-other", &a->exclude_other,
			    "hide samples without a matching parent", .rare = true),
		OPTION_FLAG(0, "raw-trace", &a->raw_trace,
			    "print tracepoint fields as raw values", .rare = true),
		OPTION_CALL('G', "inverted", NULL, a, parse_inverted, "same as --call-graph caller",
			    .rare = true),
		OPTION_FLAG(0, "collapse-recursion", &a->collapse_recursion,
			    "print recursive calls once in the tree", .rare = true),
		OPTION_NUMBER(0, "max-stack", "N", &a->max_stack,
			      "use at most N frames of a stack, innermost first", .rare = true),
		OPTION_FLAG(0, "full-source-path", &a->selection.whole_paths,
			    "print full paths of source files", .rare = true),
		OPTION_WORD(0, "percentage", "OF", &a->relative, "absolute or relative",
			    "print percentages of all samples (absolute, the default), or of the "
			    "samples that pass the filters (relative)", .rare = true),
		OPTION_OFF(0, "no-command-line", &a->command_line,
			   "leave the recorded command out of exports: it may contain secrets",
			   .rare = true),
		OPTION_FLAG(0, "header", &a->header, "print the file header first", .rare = true),
		OPTION_FLAG(0, "header-only", &a->header_only, "print the file header only",
			    .rare = true),
		OPTION_FLAG(0, "tui", &a->tui,
			    "browse the report in the terminal, like sprof browse", .rare = true),
		OPTION_CALL(0, "stdio", NULL, a, parse_stdio, "same as --format text",
			    .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_how(struct report_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("Output:"),
		OPTION_WORD(0, "color", "WHEN", &a->colour, "auto, always or never",
			    "use colours: auto (on a terminal), always or never", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
	input_options_add_output(&a->selection, table);
}

/* View options of sprof browse. Others are for text. */
static void add_browsed(struct report_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("View:"),
		OPTION_CALL('s', "sort", "KEYS", a, report_keys_parse,
			    "group samples by comm, pid, tid, cpu, dso, symbol, function, ...; "
			    "+KEY adds to comm,dso,function"),
		OPTION_CALL(0, "mode", "MODE", &a->mode, report_mode_parse,
			    "weigh by cpu, wall, off-cpu or process latency"),
		OPTION_CHOICE(0, "children", &a->children,
			      "order by total, which includes callees; --no-children: no totals"),
		OPTION_CHOICE(0, "inline", &a->selection.inlines,
			      "show inlined functions as functions (default)"),
		OPTION_CALL(0, "percent-limit", "MIN", &a->limit, option_parse_percent,
			    "hide rows below MIN percent"),
		OPTION_WORD(0, "percentage", "OF", &a->relative, "absolute or relative",
			    "show percentages of all samples (absolute, the default), or of the "
			    "samples that pass the filters (relative)"),
		OPTION_NUMBER('j', "jobs", "N", &a->selection.jobs,
			      "use N threads (default: one per CPU)", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

#define PICTURES "use -o report.html, or sprof browse and its key f, or --format folded"
#define TRACES "processor traces are not decoded; use 'perf report'"
#define ANNOTATES "use 'sprof annotate' to see code"

/* perf's options that are not supported. */
static const struct option_refusal refused[] = {
	{'D', "dump-raw-trace", "use 'sprof script -D'"},
	{0, "disable-order", "not needed: counting needs no order"},
	{'I', "show-info", "use --header or 'sprof info'"},
	{0, "stats", "use 'sprof info', which counts records"},
	{0, "tasks", "use 'sprof script --show-task-events'"},
	{0, "mmaps", "use 'sprof script --show-mmap-events'"},
	{'t', "field-separator", "use --format csv"},
	{'w', "column-widths", "columns fit their contents"},
	{'H', "hierarchy", "use several keys with --sort"},
	{'U', "hide-unresolved", "use -S to select functions"},
	{0, "ignore-callees", "use --callers FUNCTION"},
	{'m', "modules", "modules always have symbols of their files"},
	{'M', "disassembler-style", ANNOTATES},
	{0, "objdump", ANNOTATES},
	{0, "asm-raw", ANNOTATES},
	{0, "prefix", ANNOTATES},
	{0, "prefix-strip", ANNOTATES},
	{0, "percent-type", ANNOTATES},
	{0, "samples", ANNOTATES},
	{0, "gtk", "use --tui, or -o report.html"},
	{0, "itrace", TRACES},
	{0, "branch-history", "sprof has no call trees of branches; use -b -s symbol_from,symbol_to"},
	{0, "total-cycles", "it orders blocks between branches; 'sprof script -F brstackinsn' has "
			    "their cycles"},
	{0, "stitch-lbr", "joined branch stacks can be wrong"},
	{0, "socket-filter", "use -C with the socket's CPUs, or -s socket"},
	{0, "flamegraph", PICTURES},
	{0, "flame-graph", PICTURES},
	{0, "svg", PICTURES},
	{0, "symbol-filter", "use -S with full names, or --focus REGEX"},
	{0, "show-total-period", "use -F overhead,period,...; csv and json always have it"},
	{0, "show-cpu-utilization", "symbols show the mode: [k] kernel, [.] user space, [g] and [u] guest"},
	{0, "show-ref-call-graph", "it shows call chains of another event"},
	{0, "group-sort-idx", "rows are ordered as the group's first event"},
	{0, "skip-empty", "events without samples are always skipped"},
	{0, "ignore-vmlinux", "use --vmlinux with another file, or --kallsyms"},
	{0, "demangle", "always on"},
	{0, "demangle-kernel", "always on"},
	{0, "addr2line", "debug information is read without other programs"},
	{0, "addr2line-style", "debug information is read without other programs"},
	{0, "unwind-style", "use --unwinder cfi, libunwind or none"},
	{0, "pretty", "use --format"},
	{0, "ns", "--time-quantum sets the digits of -s time"},
	{0, "stdio-color", "use --color"},
	{0, "switch-on", "use --time with the times of the events"},
	{0, "switch-off", "use --time with the times of the events"},
	{0, "show-on-off-events", "use --time with the times of the events"},
	{0, NULL, NULL},
};

/* Chooses the format. Returns false after printing that it is unknown. */
static bool choose_output(struct report_arguments *arguments)
{
	if (arguments->file && !strcmp(arguments->file, "-"))
		arguments->file = NULL;
	if (!arguments->output && arguments->file)
		arguments->output = output_find_file(arguments->file);
	if (!arguments->output && arguments->file) {
		diag_print("-o %s: no format has files of this name", arguments->file);
		if (output_is_picture(arguments->file))
			diag_more("-o FILE.html has a flame graph, times and threads");
		diag_more("--format selects one: " OUTPUT_NAMES);
	}
	return arguments->output || !arguments->file;
}

/*
 * Checks the options that need or exclude others; `given`: the user chose the format. Returns false
 * after printing the first conflict: `what`, and unless `more` is NULL, the format's name and
 * `more`.
 */
static bool check_conflicts(const struct report_arguments *a, bool given)
{
	const struct output_format *output = a->output;
	const struct {
		bool holds;
		const char *what, *more, *remedy;
	} conflicts[] = {
		{a->callers && a->callees,
		 "--callers and --callees do not go together: use one of them"},
		{a->tui && (given || a->file || a->explain),
		 "--tui writes no format and no file: omit it, or omit -o, --format and --explain"},
		{a->explain && output != &output_text && output != &output_json,
		 "--explain writes text or json"},
		{a->most && output != &output_text && output != &output_json &&
		 output != &output_csv,
		 "--limit is for text, json and csv; format ", " has all rows"},
		{a->source && output != &output_html, "--source is for HTML: -o FILE.html"},
		{a->open && !a->file, "--open needs a file: -o FILE.html"},
		{!a->file && output->binary && isatty(STDOUT_FILENO),
		 "--format ", " is not for terminals", "write it to a file: -o FILE"},
	};
	for (size_t i = 0; i < sizeof(conflicts) / sizeof(*conflicts); i++) {
		if (!conflicts[i].holds)
			continue;
		diag_print("%s%s%s", conflicts[i].what, conflicts[i].more ? output->name : "",
			   conflicts[i].more ?: "");
		if (conflicts[i].remedy)
			diag_more("%s", conflicts[i].remedy);
		return false;
	}
	return true;
}

static int parse_table(struct report_arguments *a, int argc, char **argv)
{
	struct option_table table = {0};
	bool browses = !strcmp(argv[0], "browse");
	if (browses) {
		add_browsed(a, &table);
	} else {
		add_shown(a, &table);
		add_rarely_shown(a, &table);
	}
	input_options_add_filter(&a->selection, &table);
	input_options_add_stack_filter(&a->selection, &table);
	input_options_add_read(&a->selection, &table);
	if (!browses)
		add_how(a, &table);
	const char *ui = getenv("SPROF_UI");
	const struct option_usage browse = {
		.synopses = (const char *const[]){"sprof browse [OPTION]... [FILE]...", NULL},
		.about = "Browses one or several recordings in the terminal. "
			 "Its key ? lists the keys.",
		.example = "sprof browse -c nginx",
		.options = table.items,
	};
	const struct option_usage report = {
		.synopses = (const char *const[]){"sprof report [OPTION]... [FILE]...", NULL},
		.about = "Shows the hot functions and the call tree of one or several recordings.",
		.example = "sprof report -g caller -c nginx",
		.options = table.items,
		.refusals = refused,
	};
	int operands, status = options_parse(browses ? &browse : &report, argc, argv, &operands);
	/* The variable is a default: it gives way to options, and to a pipe. */
	if (status < 0 && ui && !strcmp(ui, "tui") && !a->output && !a->file && !a->header_only &&
	    !a->explain && isatty(STDOUT_FILENO))
		a->tui = true;
	a->tui |= browses;
	if (a->callers && a->tree == SP_TREE_CALLER && !a->tree_ordered)
		a->tree = SP_TREE_CALLEE;
	/* --limit 0 has no limit, as --percent-limit 0. */
	if (!a->most && a->limit < 0)
		a->limit = 0;
	if (a->most == UINT64_MAX)
		a->most = 0;
	if (status < 0 && !choose_output(a))
		status = EXIT_USAGE;
	bool given = a->output;
	if (!given)
		a->output = &output_text;
	if (status < 0 && !check_conflicts(a, given))
		status = EXIT_USAGE;
	if (a->explain)
		a->output = a->output == &output_json ? &output_explain_json : &output_explain;
	a->processes |= a->command_lines;
	if (a->processes && a->tree == SP_TREE_NONE) {
		a->tree = SP_TREE_CALLER;
		a->process_tree = status < 0 && !a->output->stacks && !a->output->functions;
	}
	if (status < 0) {
		a->selection.operands = (const char *const *)argv + operands;
		a->selection.operand_count = (size_t)(argc - operands);
		a->option_words = argv + 1;
		a->option_word_count = (size_t)operands - 1;
	}
	return status;
}

int report_arguments_parse(struct report_arguments *arguments, int argc, char **argv)
{
	*arguments = (struct report_arguments){
		.children = -1,
		.interpreter_frames = -1,
		.branches = -1,
		.mode = -1,
		.group = -1,
		.limit = -1,
		.most = UINT64_MAX,
	};
	input_options_init(&arguments->selection);
	return parse_table(arguments, argc, argv);
}
