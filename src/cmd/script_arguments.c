/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the command line of sprof script. */
#include <stdlib.h>
#include <string.h>
#include "cmd/script.h"
#include "command.h"
#include "diag.h"
#include "input.h"

/* perf's: what a call chain may have by the kernel's default. */
#define MAX_STACK 127

void script_arguments_deinit(struct script_arguments *arguments)
{
	selection_deinit(&arguments->selection);
	option_strings_deinit(&arguments->stops);
}

static bool parse_fields(const struct option *option, const char *text)
{
	char *why;
	bool fine = fields_parse(option->value, text, &why);
	if (!fine)
		diag_say("-F, --fields: %s", why ? why : "out of memory");
	free(why);
	return fine;
}

static bool parse_format(const struct option *option, const char *text)
{
	enum script_format *format = option->value;
	if (strcmp(text, "text") && strcmp(text, "json"))
		return option_reject(option, text, "text or json");
	*format = *text == 'j' ? SCRIPT_JSON : SCRIPT_TEXT;
	return true;
}

static bool parse_dump(const struct option *option, const char *text)
{
	(void)text;
	*(enum script_format *)option->value = SCRIPT_DUMP;
	return true;
}

#define TRACES "it takes a decoder of processor traces, which there is not; 'perf script' has one"
#define PLUGIN "it runs a program on each sample; -F and --format json give it to any program"
#define GUEST "it names a guest's symbols, which are not looked for; the guest itself can record"

/* perf's. */
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
	{0, "dump-unsorted-raw-trace", "it is -D, which has the file's order"},
	{0, "per-event-dump", "it writes files; -e EVENT >FILE does it for each event"},
	{0, "stitch-lbr", "it puts chains together from other samples' branches; here each has its own"},
	{0, "merge-callchains", "it is always done: chains that come later are put to their samples"},
	{0, "addr-range", "it takes addresses; -S takes functions, and --format json has all addresses"},
	{0, "switch-on", "it takes what is between events; --time takes it by their times"},
	{0, "switch-off", "it takes what is between events; --time takes it by their times"},
	{0, "show-on-off-events", "it goes with --switch-on; --time takes a part of the recording"},
	{0, "demangle", "it is always done"},
	{0, "demangle-kernel", "it is always done"},
	{0, "addr2line", "it runs a program for each line; debug information is read here"},
	{0, "show-kernel-path", "it shows where names are from; 'sprof report -v' says it of all files"},
	{0, "unwind-style", "it is --unwinder (cfi, libunwind, none)"},
	{'I', "show-info", "it is --header, which has all of it; see 'sprof info', too"},
	{'L', "Latency", "it is of perf's scripts, which are not run here"},
	{'a', "all-cpus", "it records; 'sprof record -a' does"},
	{0, NULL, NULL},
};

static void add_shown(struct script_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("What is shown:"),
		OPTION_CALL('F', "fields", "FIELDS", &a->fields, parse_fields,
			    "of each sample: comm, tid, pid, time, cpu, event, trace, ip,\n"
			    "sym, dso, dsoff, addr, symoff, srcline, period, iregs, uregs,\n"
			    "brstack, brstacksym, brstackoff, data_src, weight, bpf-output,\n"
			    "phys_addr, misc, tod, data_page_size, code_page_size, ins_lat,\n"
			    "retire_lat, cgroup, insn, insnlen, disasm, brstackinsn,\n"
			    "brstackinsnlen, brstackdisasm, brcntr, machine_pid, vcpu,\n"
			    "transaction; +FIELD and -FIELD change the\n"
			    "default; hw:, sw:, trace:, hw-cache:, raw:,\n"
			    "break: or other: before them is of that kind of events alone"),
		OPTION_CALL(0, "format", "FORMAT", &a->format, parse_format,
			    "text, or json: a line for each record, with all its fields"),
		OPTION_CALL('D', "dump-raw-trace", NULL, &a->format, parse_dump,
			    "all records as they lie in the file, in hex and in words"),
		OPTION_FLAG('G', "hide-call-graph", &a->no_chains, "the sampled place alone"),
		OPTION_NUMBER(0, "max-stack", "N", &a->max_stack, "no more calls than N (127)"),
		OPTION_NUMBER(0, "max-blocks", "N", &a->max_blocks,
			      "no more blocks of brstackinsn than N"),
		OPTION_CHOICE(0, "inline", &a->selection.inlines,
			      "show inlined functions (the default); or no more than their\n"
			      "symbol, and read no debug information"),
		OPTION_FLAG(0, "full-source-path", &a->selection.whole_paths,
			    "source files by their whole path"),
		OPTION_FLAG(0, "ns", &a->ns, "times to the nanosecond"),
		OPTION_FLAG(0, "deltatime", &a->delta_time, "times since the line before"),
		OPTION_FLAG(0, "reltime", &a->relative_time, "times since the first line"),
		OPTION_STRINGS(0, "stop-bt", "NAMES", &a->stops,
			       "show a chain no further than these functions"),
		OPTION_FLAG(0, "header", &a->header, "what the header says, before all else"),
		OPTION_FLAG(0, "header-only", &a->header_only, "what the header says alone"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_records(struct script_arguments *a, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("Which other records are shown:"),
		OPTION_FLAG(0, "show-task-events", &a->show_tasks,
			    "COMM, FORK and EXIT records, too"),
		OPTION_FLAG(0, "show-mmap-events", &a->show_mmaps, "MMAP and MMAP2 records"),
		OPTION_FLAG(0, "show-switch-events", &a->show_switches, "context switches"),
		OPTION_FLAG(0, "show-namespace-events", &a->show_namespaces, "NAMESPACES records"),
		OPTION_FLAG(0, "show-lost-events", &a->show_losses, "LOST, LOST_SAMPLES records"),
		OPTION_FLAG(0, "show-bpf-events", &a->show_bpf, "KSYMBOL and BPF_EVENT records"),
		OPTION_FLAG(0, "show-cgroup-events", &a->show_cgroups, "CGROUP records"),
		OPTION_FLAG(0, "show-text-poke-events", &a->show_text_pokes,
			    "KSYMBOL and TEXT_POKE records"),
		OPTION_FLAG(0, "show-round-events", &a->show_rounds,
			    "FINISHED_ROUND records, and all in the file's order"),
	};
	OPTION_TABLE_ADD(table, group);
}

static int parse_table(struct script_arguments *a, int argc, char **argv)
{
	const struct option how[] = {OPTION_GROUP("How:")};
	struct option_table table = {0};
	selection_add_read(&a->selection, &table);
	add_shown(a, &table);
	add_records(a, &table);
	selection_add_filter(&a->selection, &table);
	OPTION_TABLE_ADD(&table, how);
	selection_add_how(&a->selection, &table);
	const struct option_usage usage = {
		.synopses = (const char *const[]){"sprof script [OPTION]...", NULL},
		.about = "Prints a recording's samples, and other records, in the order of their "
			 "times.",
		.options = table.items,
		.refusals = refused,
	};
	int operands, status = options_parse(&usage, argc, argv, &operands);
	if (status >= 0 || operands == argc)
		return status;
	diag_say("script takes no operand: '%s' (-i FILE names the recording)", argv[operands]);
	return EXIT_USAGE;
}

int script_arguments_parse(struct script_arguments *arguments, int argc, char **argv)
{
	*arguments = (struct script_arguments){.max_stack = MAX_STACK};
	selection_init(&arguments->selection);
	fields_init(&arguments->fields);
	return parse_table(arguments, argc, argv);
}
