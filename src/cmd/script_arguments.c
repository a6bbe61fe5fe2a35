/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the command line of sprof script. */
#include <math.h>
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
	option_strings_deinit(&arguments->comms);
	option_strings_deinit(&arguments->dsos);
	option_strings_deinit(&arguments->symbols);
	option_strings_deinit(&arguments->events);
	option_numbers_deinit(&arguments->pids);
	option_numbers_deinit(&arguments->tids);
	option_numbers_deinit(&arguments->cpus);
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

static int parse_options(const struct option *options, int argc, char **argv)
{
	const struct option_usage usage = {
		.synopses = (const char *const[]){"sprof script [OPTION]...", NULL},
		.about = "Prints a recording's samples, and other records, in the order of their "
			 "times.",
		.options = options,
	};
	int operands, status = options_parse(&usage, argc, argv, &operands);
	if (status >= 0 || operands == argc)
		return status;
	diag_say("script takes no operand: '%s' (-i FILE names the recording)", argv[operands]);
	return EXIT_USAGE;
}

/* The table is all that there is of the options: their names, values and help. */
static int parse_table(struct script_arguments *a, int argc, char **argv)
{
	const struct option options[] = {
		OPTION_GROUP("What is read:"),
		OPTION_STRING('i', "input", "FILE", &a->input,
			      "the recording: sprof.data unless said, or perf.data where\n"
			      "that is not there; - is standard input"),
		OPTION_STRING(0, "symfs", "DIR", &a->symfs, "look for recorded files below DIR"),
		OPTION_STRING('k', "vmlinux", "FILE", &a->vmlinux, "the kernel's ELF file"),
		OPTION_STRING(0, "kallsyms", "FILE", &a->kallsyms,
			      "kernel symbols in the form of /proc/kallsyms"),
		OPTION_FLAG(0, "debuginfod", &a->debuginfod,
			    "ask the servers of $DEBUGINFOD_URLS for debug files and\n"
			    "programs that are not here"),
		OPTION_STRING(0, "unwinder", "NAME", &a->unwinder,
			      "unwind copied stacks by cfi (the default), libunwind or none"),

		OPTION_GROUP("What is shown:"),
		OPTION_CALL('F', "fields", "FIELDS", &a->fields, parse_fields,
			    "of each sample: comm, tid, pid, time, cpu, event, trace, ip,\n"
			    "sym, dso, dsoff, addr, symoff, srcline, period, iregs, uregs,\n"
			    "brstack, brstacksym, brstackoff, data_src, weight, bpf-output,\n"
			    "phys_addr, misc, tod, data_page_size, code_page_size, ins_lat,\n"
			    "retire_lat, cgroup, transaction; +FIELD and -FIELD change the\n"
			    "default; hw:, sw:, trace:, hw-cache:, raw:,\n"
			    "break: or other: before them is of that kind of events alone"),
		OPTION_CALL(0, "format", "FORMAT", &a->format, parse_format,
			    "text, or json: a line for each record, with all its fields"),
		OPTION_CALL('D', "dump-raw-trace", NULL, &a->format, parse_dump,
			    "all records as they lie in the file, in hex and in words"),
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
		OPTION_FLAG('G', "hide-call-graph", &a->no_chains, "the sampled place alone"),
		OPTION_NUMBER(0, "max-stack", "N", &a->max_stack, "no more calls than N (127)"),
		OPTION_CHOICE(0, "inline", &a->inlines,
			      "show inlined functions (the default); or no more than their\n"
			      "symbol, and read no debug information"),
		OPTION_FLAG(0, "full-source-path", &a->whole_paths,
			    "source files by their whole path"),
		OPTION_FLAG(0, "ns", &a->ns, "times to the nanosecond"),
		OPTION_FLAG(0, "deltatime", &a->delta_time, "times since the line before"),
		OPTION_FLAG(0, "reltime", &a->relative_time, "times since the first line"),
		OPTION_FLAG(0, "header", &a->header, "what the header says, before all else"),
		OPTION_FLAG(0, "header-only", &a->header_only, "what the header says alone"),

		OPTION_GROUP("Only samples of:"),
		OPTION_STRINGS('c', "comms", "NAMES", &a->comms, "these commands"),
		OPTION_STRINGS('d', "dsos", "NAMES", &a->dsos, "these programs and libraries"),
		OPTION_STRINGS('S', "symbols", "NAMES", &a->symbols, "these functions"),
		OPTION_NUMBERS(0, "pid", "PIDS", &a->pids, "these processes"),
		OPTION_NUMBERS(0, "tid", "TIDS", &a->tids, "these threads"),
		OPTION_NUMBERS('C', "cpu", "CPUS", &a->cpus,
			       "these processors, e.g. 0,4-7; of other records, too"),
		OPTION_STRINGS('e', "events", "NAMES", &a->events, "these events"),
		OPTION_STRING(0, "time", "START,END", &a->time,
			      "this time, in seconds of the recording's clock; either may be\n"
			      "left out; or a part, such as 10%-20% or 10%/2; several by blanks\n"
			      "(or commas, of parts)"),

		OPTION_GROUP("How:"),
		OPTION_CHOICE(0, "pager", &a->pager,
			      "show text on a terminal by $SPROF_PAGER, $PAGER or less"),
		OPTION_FLAG('q', "quiet", &a->quiet, "say nothing of what limits the result"),
		OPTION_FLAG('v', "verbose", &a->verbose, "say on standard error what is done"),
		OPTION_NUMBER('j', "jobs", "N", &a->jobs, "use N threads (all processors)"),
		OPTION_END,
	};
	return parse_options(options, argc, argv);
}

int script_arguments_parse(struct script_arguments *arguments, int argc, char **argv)
{
	*arguments = (struct script_arguments){.inlines = -1, .pager = -1, .max_stack = MAX_STACK};
	fields_init(&arguments->fields);
	return parse_table(arguments, argc, argv);
}

/* "START,END"; either may be left out, but not both. The last nanosecond belongs to it. */
static bool parse_seconds(const char *word, struct sp_time_span *ret)
{
	const char *comma = strchr(word, ','), *end = word + strlen(word);
	*ret = (struct sp_time_span){0};
	if (!comma || end == word + 1)
		return false;
	if (comma > word && !option_text_seconds(word, comma, &ret->begin_ns))
		return false;
	if (comma + 1 == end)
		return true;
	if (!option_text_seconds(comma + 1, end, &ret->end_ns) || ret->end_ns < ret->begin_ns)
		return false;
	ret->end_ns += ret->end_ns < UINT64_MAX;
	return true;
}

/* "10%-20%" or "10%/2": as shares of the whole. */
static bool parse_percent(const char *word, double *begin, double *end)
{
	char *rest;
	uint64_t slice;
	*begin = strtod(word, &rest) / 100;
	if (rest == word || *rest != '%' || !isfinite(*begin) || *begin < 0 || *begin > 1)
		return false;
	if (rest[1] == '/') {
		double part = *begin;
		if (!option_text_number(rest + 2, 1, UINT32_MAX, &slice) || part <= 0)
			return false;
		*begin = part * (double)(slice - 1);
		*end = part * (double)slice;
		return *end <= 1 + 1e-9;
	}
	if (rest[1] == '\0') {
		*end = *begin;
		*begin = 0;
		return *end > 0;
	}
	if (rest[1] != '-')
		return false;
	const char *second = rest + 2;
	*end = strtod(second, &rest) / 100;
	return rest != second && !strcmp(rest, "%") && *end <= 1 && *end > *begin;
}

static bool add_part(struct sp_time_span *span, const char *word, uint64_t first, uint64_t last)
{
	double begin, end, length = (double)(last - first);
	if (!parse_percent(word, &begin, &end))
		return false;
	span->begin_ns = first + (uint64_t)(length * begin);
	/* The next part begins where this one ends. */
	span->end_ns = end >= 1 ? 0 : first + (uint64_t)(length * end);
	return true;
}

bool script_times(struct script_arguments *arguments, struct sp_reader *reader)
{
	const char *text = arguments->time;
	uint64_t first = 0, last = 0;
	bool parts = text && strchr(text, '%'), fine = true;
	if (!text)
		return true;
	struct sp_error *error = parts ? input_time(reader, &first, &last) : NULL;
	if (error) {
		diag_error(error);
		return false;
	}
	char *copy = strdup(text), *rest = copy, *word;
	while (fine && copy && (word = strsep(&rest, parts ? ", " : " "))) {
		struct sp_time_span *span = &arguments->times[arguments->time_count];
		if (!*word)
			continue;
		fine = arguments->time_count < SCRIPT_TIMES &&
		       (parts ? add_part(span, word, first, last) : parse_seconds(word, span));
		arguments->time_count++;
	}
	fine = fine && copy && arguments->time_count;
	if (!fine)
		diag_say("--time: '%s' is not START,END in seconds, or PERCENT%%-PERCENT%%", text);
	free(copy);
	return fine;
}
