/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parser of the command line of `sprof script`. */
#include <stdlib.h>
#include <string.h>
#include "cmd/script/script.h"
#include "command.h"
#include "diag.h"
#include "input.h"

/* Default limit of frames in a call chain, as in perf: the kernel's default limit. */
#define MAX_STACK 127

void script_arguments_deinit(struct script_arguments *arguments)
{
	input_options_deinit(&arguments->selection);
	option_strings_deinit(&arguments->stops);
}

static bool parse_fields(const struct option *option, const char *text)
{
	char *why;
	bool fine = fields_parse(option->value, text, &why);
	if (!fine)
		diag_print("-F, --fields: %s", why);
	free(why);
	return fine;
}

#define TRACES "processor traces are not decoded; use 'perf script'"
#define PLUGIN "it runs a program on each sample; -F and --format json give it to any program"
#define GUEST "it names a guest's symbols, which are not looked for; the guest itself can record"

/* perf's options that are not supported. */
static const struct option_refusal refused[] = {
	{0, "itrace", TRACES},
	{0, "call-trace", TRACES},
	{0, "call-ret-trace", TRACES},
	{0, "insn-trace", TRACES},
	{0, "graph-function", TRACES},
	{0, "xed", TRACES ", and -F disasm shows code"},
	{'s', "script", PLUGIN},
	{'g', "gen-script", PLUGIN},
	{'l', "list", PLUGIN},
	{0, "dlfilter", PLUGIN},
	{0, "dlarg", PLUGIN},
	{0, "list-dlfilters", PLUGIN},
	{0, "guest-code", GUEST},
	{0, "guestmount", GUEST},
	{0, "guestvmlinux", GUEST},
	{0, "guestkallsyms", GUEST},
	{0, "guestmodules", GUEST},
	{0, "dump-unsorted-raw-trace", "use -D, which keeps the file's order"},
	{0, "per-event-dump", "use -e EVENT >FILE for each event"},
	{0, "stitch-lbr", "it puts chains together from other samples' branches; here each has its own"},
	{0, "merge-callchains", "deferred call chains are always merged"},
	{0, "addr-range", "use -S FUNCTION; --format json has all addresses"},
	{0, "switch-on", "use --time with the times of the events"},
	{0, "switch-off", "use --time with the times of the events"},
	{0, "show-on-off-events", "use --time with the times of the events"},
	{0, "demangle", "always on"},
	{0, "demangle-kernel", "always on"},
	{0, "addr2line", "debug information is read without other programs"},
	{0, "show-kernel-path", "'sprof report -v' prints the files"},
	{0, "unwind-style", "use --unwinder cfi, libunwind or none"},
	{'I', "show-info", "use --header or 'sprof info'"},
	{'L', "Latency", "perf's scripts are not supported"},
	{'a', "all-cpus", "use 'sprof record -a'"},
	{0, NULL, NULL},
};

static void add_records(struct script_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("Other records:"),
		OPTION_FLAG(0, "show-task-events", &a->show_tasks,
			    "print COMM, FORK and EXIT records"),
		OPTION_FLAG(0, "show-mmap-events", &a->show_mmaps, "print MMAP and MMAP2 records"),
		OPTION_FLAG(0, "show-switch-events", &a->show_switches, "print context switches"),
		OPTION_FLAG(0, "show-lost-events", &a->show_losses,
			    "print LOST and LOST_SAMPLES records", .rare = true),
		OPTION_FLAG(0, "show-namespace-events", &a->show_namespaces,
			    "print NAMESPACES records", .rare = true),
		OPTION_FLAG(0, "show-cgroup-events", &a->show_cgroups, "print CGROUP records",
			    .rare = true),
		OPTION_FLAG(0, "show-bpf-events", &a->show_bpf,
			    "print KSYMBOL and BPF_EVENT records", .rare = true),
		OPTION_FLAG(0, "show-text-poke-events", &a->show_text_pokes,
			    "print KSYMBOL and TEXT_POKE records", .rare = true),
		OPTION_FLAG(0, "show-round-events", &a->show_rounds,
			    "print FINISHED_ROUND records, and all records in file order",
			    .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

int script_arguments_parse(struct script_arguments *arguments, int argc, char **argv)
{
	*arguments = (struct script_arguments){.max_stack = MAX_STACK};
	input_options_init(&arguments->selection);
	fields_init(&arguments->fields);
	const struct option how[] = {OPTION_GROUP("Output:")};
	struct option_table table = {0};
	const struct option group[] = {
		OPTION_GROUP("View:"),
		OPTION_CALL('F', "fields", "FIELDS", &arguments->fields, parse_fields,
			    "print these fields: comm, tid, pid, time, cpu, event, trace, ip, sym, "
			    "dso, srcline, period, ...; +FIELD and -FIELD change the default"),
		OPTION_WORD(0, "format", "FORMAT", &arguments->format, "text or json",
			    "print text, or json with one line per record"),
		OPTION_SET('D', "dump-raw-trace", &arguments->format, SCRIPT_DUMP,
			    "dump all records in file order, in hex and decoded"),
		OPTION_FLAG('G', "hide-call-graph", &arguments->no_chains, "print no call chains"),
		OPTION_NUMBER(0, "max-stack", "N", &arguments->max_stack,
			      "print at most N frames per sample (default: 127)"),
		OPTION_CHOICE(0, "inline", &arguments->selection.inlines,
			      "print inlined functions (default)", .rare = true),
		OPTION_FLAG(0, "ns", &arguments->ns, "print times in nanoseconds"),
		OPTION_FLAG(0, "reltime", &arguments->relative_time,
			    "print times since the first line"),
		OPTION_FLAG(0, "deltatime", &arguments->delta_time,
			    "print the time since the previous line", .rare = true),
		OPTION_NUMBER(0, "max-blocks", "N", &arguments->max_blocks,
			      "print at most N blocks of brstackinsn", .rare = true),
		OPTION_FLAG(0, "full-source-path", &arguments->selection.whole_paths,
			    "print full paths of source files", .rare = true),
		OPTION_STRINGS(0, "stop-bt", "NAMES", &arguments->stops,
			       "end call chains at these functions", .rare = true),
		OPTION_FLAG(0, "header", &arguments->header, "print the file header first",
			    .rare = true),
		OPTION_FLAG(0, "header-only", &arguments->header_only, "print the file header only",
			    .rare = true),
	};
	OPTION_TABLE_ADD(&table, group);
	input_options_add_filter(&arguments->selection, &table);
	add_records(arguments, &table);
	input_options_add_read(&arguments->selection, &table);
	OPTION_TABLE_ADD(&table, how);
	input_options_add_output(&arguments->selection, &table);
	const struct option_usage usage = {
		.synopses = (const char *const[]){"sprof script [OPTION]... [FILE]", NULL},
		.about = "Prints a recording's samples and other records in time order.",
		.example = "sprof script -F +srcline | less",
		.options = table.items,
		.refusals = refused,
	};
	int operands, status = options_parse(&usage, argc, argv, &operands);
	if (status >= 0 || input_operand(&arguments->selection.input, argc, argv, operands))
		return status;
	return EXIT_USAGE;
}
