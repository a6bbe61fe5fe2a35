/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the command line of sprof record. */
#include "cmd/record_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include "cmd/record_fields.h"
#include "cmd/record_files.h"
#include "cmd/record_values.h"
#include "command.h"
#include "diag.h"

void record_arguments_deinit(struct record_arguments *arguments)
{
	option_numbers_deinit(&arguments->pids);
	option_numbers_deinit(&arguments->tids);
	event_lists_deinit(&arguments->events);
	free(arguments->spans);
}

static void add_targets(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("What is recorded:"),
		OPTION_NUMBERS('p', "pid", "PID,...", &arguments->pids,
			       "processes that run already, with their threads"),
		OPTION_NUMBERS('t', "tid", "TID,...", &arguments->tids,
			       "threads that run already"),
		OPTION_FLAG('a', "all-cpus", &options->system_wide,
			    "everything that runs"),
		OPTION_STRING('C', "cpu", "LIST", &options->cpus,
			      "these CPUs alone, as 0-3,5; without -p and -t: everything\non them"),
		OPTION_CALL('u', "uid", "USER", options, record_parse_user,
			    "the processes that a user (name or number) has now"),
		OPTION_CALL('G', "cgroup", "NAME,...", options, record_parse_cgroups,
			    "what runs in control groups: one for each event of -e, in\n"
			    "their order (a,,b leaves one out), or one for all"),
		OPTION_FLAG('i', "no-inherit", &options->no_inherit,
			    "leave out threads and children made later"),
		OPTION_CALL(0, "inherit", "WHAT", options, record_parse_inherit,
			    "of what is made later take all (the default), thread:\n"
			    "threads, but no children, or none"),
		OPTION_FLAG(0, "remove-on-exec", &options->remove_on_exec,
			    "leave processes alone once they run another program"),
		OPTION_FLAG(0, "exclude-perf", &options->exclude_self,
			    "leave out the recorder itself"),
		OPTION_CALL(0, "scope", "WHERE", &options->scope, record_parse_scope,
			    "how events are opened: cpu, on whole CPUs, where others'\n"
			    "samples are left out; task, on each task and what it\n"
			    "makes; auto (the default): cpu where that is allowed\n"
			    "and at most 5,000 samples a second are asked for"),
		OPTION_CALL(0, "per-thread", NULL, options, record_parse_per_thread,
			    "these threads and none that they make: --scope task -i"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_events(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("How samples are taken:"),
		OPTION_CALL('e', "event", "EVENT,...", &arguments->events, event_lists_parse,
			    "what to sample by (default: cycles, or cpu-clock where\n"
			    "there are no hardware counters)"),
		OPTION_CALL(0, "pfm-events", "EVENT,...", &arguments->events,
			    event_lists_parse_pfm,
			    "the same by the names that libpfm has for them"),
		OPTION_CALL(0, "filter", "FILTER", &arguments->events, event_lists_parse_filter,
			    "of the events of the -e before it: the kernel's filter of\n"
			    "a tracepoint's fields, or the addresses that are traced"),
		OPTION_CALL('F', "freq", "HZ|max", &options->freq_hz, record_parse_frequency,
			    "samples a second on each CPU (default: 997)"),
		OPTION_FLAG(0, "strict-freq", &options->strict_freq,
			    "fail where the kernel does not allow that frequency"),
		OPTION_CALL('c', "count", "N", &options->period, record_parse_count,
			    "a sample each N events, instead of -F"),
		OPTION_FLAG('n', "no-samples", &options->no_samples,
			    "take no samples: only records of tasks and mappings"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_calls(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_CALL('g', NULL, NULL, &options->call_graph, record_parse_graph,
			    "record call chains, by frame pointers where the binaries\n"
			    "keep them, else by DWARF (the default)"),
		OPTION_CALL(0, "call-graph", "HOW", options, record_parse_call_graph,
			    "by fp (frame pointers), by dwarf[,SIZE[,fixed]] (of SIZE\n"
			    "bytes of each stack, or more while that is too little;\n"
			    "default: 8192), by fp,defer (user frames are read when a\n"
			    "thread returns to them), by lbr (the processor's record of\n"
			    "calls), or none"),
		OPTION_CALL(0, "unwind", "WHEN", &options->unwind, record_parse_unwind,
			    "with dwarf: live (the default) writes call chains; later\n"
			    "keeps the stacks in the file, for the report to unwind"),
		OPTION_CALL(0, "max-stack", "N", &options->max_stack, record_parse_max_stack,
			    "keep up to N frames of a call chain"),
		OPTION_FLAG(0, "all-user", &options->user_only, "leave out the kernel"),
		OPTION_FLAG(0, "all-kernel", &options->kernel_only, "leave out user space"),
		OPTION_FLAG(0, "kernel-callchains", &options->kernel_chains,
			    "of call chains, only the kernel's part"),
		OPTION_FLAG(0, "user-callchains", &options->user_chains,
			    "of call chains, only the user's part"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_course(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_CALL('k', "clockid", "CLOCK", options, record_parse_clock,
			    "of all times: monotonic (the default), monotonic_raw,\n"
			    "realtime, boottime, tai or a number"),
		OPTION_CALL('D', "delay", "MS", arguments, record_parse_delay,
			    "begin after so many milliseconds; -1: not before --control\n"
			    "says so; 10-20,30-40: only within these ranges"),
		OPTION_STRING(0, "control", "HOW", &arguments->control,
			      "take commands (enable, disable, ping, evlist, stop, …) from\n"
			      "fd:CTL[,ACK], open files, or fifo:CTL[,ACK], their names"),
		OPTION_CALL(0, "duration", "SECONDS", &arguments->duration_ns, record_parse_duration,
			    "end after so long (a COMMAND is ended with it)"),
		OPTION_CALL('r', "realtime", "PRIORITY", &options->realtime, record_parse_realtime,
			    "drain with real-time priority 1 to 99 (SCHED_FIFO)"),
		OPTION_CALL_ATTACHED(0, "threads", "HOW", options, record_parse_threads,
				     "who keeps the buffers empty: threads, one for each cpu\n"
				     "(without HOW), core, package or numa node, or so many;\n"
				     "none: the one that writes; auto (the default): threads\n"
				     "with copies of stacks, and from 64 CPUs on"),
		OPTION_FLAG(0, "no-adapt", &options->no_adapt,
			    "keep the rate where too many samples are lost; else, from\n"
			    "1,000 a second on, a quarter of them is taken then"),
		OPTION_CALL('m', "mmap-pages", "SIZE[,AUX]", options, record_parse_ring_size,
			    "buffer of each CPU: a number of pages, or a size such as\n"
			    "4M (default: 200 ms at the -F rate, 512K to 16M); AUX:\n"
			    "the area of a tracing event (intel_pt//)"),
		OPTION_CALL_ATTACHED(0, "aux-sample", "SIZE", &options->aux_sample_bytes,
				     record_parse_aux_sample,
				     "of a tracing event, the first: put its last SIZE bytes\n"
				     "(default: 4096) into the samples of the others"),
		OPTION_CALL_ATTACHED('S', "snapshot", "SIZE", options, record_parse_snapshot,
				     "of a tracing event: overwrite its areas, of SIZE each, and\n"
				     "write what is in them whenever SIGUSR2 comes"),
		OPTION_CALL(0, "mmap-flush", "SIZE", &options->wakeup_bytes, record_parse_flush,
			    "drain a buffer when so many bytes are in it"),
		OPTION_CALL(0, "wakeup-events", "N", &options->wakeup_samples, record_parse_wakeup,
			    "drain after each N samples"),
		OPTION_CALL(0, "no-buffering", NULL, &options->wakeup_samples, record_parse_no_buffering,
			    "drain after each sample"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_sample_fields(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_fields *fields = &arguments->options.fields;
	const struct option group[] = {
		OPTION_GROUP("What samples hold besides:"),
		OPTION_CALL('d', "data", NULL, fields, record_parse_data,
			    "the address of data, how it was accessed, and mappings of\n"
			    "data"),
		OPTION_CALL(0, "phys-data", NULL, &fields->sample_type, record_parse_sample,
			    "the physical address of data"),
		OPTION_CALL(0, "data-page-size", NULL, &fields->sample_type, record_parse_sample,
			    "the size of the page that data lie in"),
		OPTION_CALL(0, "code-page-size", NULL, &fields->sample_type, record_parse_sample,
			    "the size of the page that code lies in"),
		OPTION_CALL(0, "sample-mem-info", NULL, &fields->sample_type, record_parse_sample,
			    "how memory was accessed: level, snoop, TLB"),
		OPTION_FLAG('W', "weight", &fields->weight,
			    "what an access or instruction cost, of events that say so"),
		OPTION_CALL(0, "transaction", NULL, &fields->sample_type, record_parse_sample,
			    "how transactions ended"),
		OPTION_CALL('b', "branch-any", NULL, fields, record_parse_branch_any,
			    "the branches taken before"),
		OPTION_CALL('j', "branch-filter", "WHICH,...", fields, record_parse_branch_filter,
			    "branches of these kinds: any, any_call, any_ret, ind_call,\n"
			    "call, cond, ind_jmp, in_tx, no_tx, abort_tx, stack; u, k,\n"
			    "hv: there; with save_type, priv, hw_index, counter;\n"
			    "no_flags, no_cycles"),
		OPTION_CALL_ATTACHED('I', "intr-regs", "REGISTER,...", fields,
				     record_parse_interrupt_registers,
				     "registers as they were when the sample was taken\n"
				     "(--intr-regs=? lists them)"),
		OPTION_CALL_ATTACHED(0, "user-regs", "REGISTER,...", fields,
				     record_parse_user_registers,
				     "registers of user space (--user-regs=? lists them)"),
		OPTION_CALL('R', "raw-samples", NULL, &fields->sample_type, record_parse_sample,
			    "raw data, of all events"),
		OPTION_CALL(0, "all-cgroups", NULL, fields, record_parse_all_cgroups,
			    "the control group, and records of all there are"),
		OPTION_CALL(0, "sample-id", NULL, &fields->sample_type, record_parse_sample,
			    "the event's id once more, where old readers look for it"),
		OPTION_CALL(0, "sample-stream-id", NULL, &fields->sample_type,
			    record_parse_sample,
			    "the id of the very event, of those that were inherited"),
		OPTION_CALL('T', "timestamp", NULL, &fields->sample_type, record_parse_sample,
			    "the time (it always is there, as are the next ones)"),
		OPTION_CALL('P', "period", NULL, &fields->sample_type, record_parse_sample,
			    "the period"),
		OPTION_CALL(0, "sample-cpu", NULL, &fields->sample_type, record_parse_sample,
			    "the CPU"),
		OPTION_CALL(0, "sample-identifier", NULL, &fields->sample_type,
			    record_parse_sample, "the event's id"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_side_band(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_fields *fields = &arguments->options.fields;
	const struct option group[] = {
		OPTION_GROUP("What is recorded beside samples:"),
		OPTION_FLAG(0, "switch-events", &fields->switches, "context switches"),
		OPTION_FLAG(0, "latency", &fields->switches,
			    "the same: of them perf report --latency tells how parallel it was"),
		OPTION_FLAG(0, "namespaces", &fields->namespaces, "which namespaces tasks are in"),
		OPTION_FLAG(0, "data-mmap", &fields->data_mappings, "mappings of data, too"),
		OPTION_FLAG(0, "no-bpf-event", &fields->no_bpf_programs,
			    "leave out which BPF programs are loaded meanwhile"),
		OPTION_FLAG('s', "stat", &fields->thread_counts,
			    "what each thread and process counted, when it ends"),
		OPTION_FLAG(0, "running-time", &fields->running_time,
			    "with counts, how long they were counted"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_output(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Output:"),
		OPTION_STRING('o', "output", "FILE", &options->path,
			      "the recording (default: sprof.data; the old one is kept\n"
			      "as FILE.old; -: standard output)"),
		OPTION_FLAG(0, "sync", &options->sync,
			    "bring each part of a second to the disk before it counts, so\n"
			    "that a loss of power costs no more than being killed does"),
		OPTION_CALL_ATTACHED('z', "compression-level", "LEVEL",
				     &options->compression_level, record_parse_compression,
				     "compress the recording with zstd (LEVEL: 1, the\n"
				     "default, to 22), by the thread that writes"),
		OPTION_FLAG('q', "quiet", &arguments->quiet,
			    "print errors only, and a line if there are no samples"),
		OPTION_FLAG('v', "verbose", &arguments->verbose, "say what is done"),
	};
	OPTION_TABLE_ADD(table, group);
}

/* What perf has to be told, and is always so here. */
static void add_habits(struct option_table *table, struct record_arguments *arguments)
{
	bool *habit = &arguments->habit;
	const struct option group[] = {
		OPTION_FLAG('N', "no-buildid-cache", habit, "keep no copies of files (always so)"),
		OPTION_FLAG(0, "buildid-all", habit,
			    "build-ids of all that was mapped (always so)"),
		OPTION_FLAG(0, "buildid-mmap", habit,
			    "build-ids with mappings, where the kernel says them (always so)"),
		OPTION_CALL_ATTACHED(0, "aio", "N", habit, record_parse_habit,
				     "write while more is recorded (always so)"),
		OPTION_FLAG(0, "dry-run", &arguments->dry_run,
			    "open all events, say what would be done otherwise, and end"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_files(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_CALL(0, "max-size", "SIZE", &options->max_bytes, record_parse_max_size,
			    "end before the file is larger than SIZE (B, K, M or G)"),
		OPTION_CALL_ATTACHED(0, "switch-output", "WHEN", options, record_parse_switch_output,
				     "end the file and go on in the next: on SIGUSR2 (signal,\n"
				     "the default), before it is larger than a size (100M) or\n"
				     "after a time (s, m, h, d); files are FILE.DATE then"),
		OPTION_CALL(0, "switch-max-files", "N", &options->keep_files, record_parse_keep,
			    "of these files, keep the last N"),
		OPTION_CALL(0, "keep", "N", &options->keep_files, record_parse_keep,
			    "the same"),
		OPTION_CALL(0, "switch-output-event", "EVENT", options, record_parse_switch_event,
			    "end the file whenever EVENT happens, which is not recorded"),
		OPTION_CALL_ATTACHED(0, "overwrite", "SECONDS", options, record_parse_overwrite,
				     "a flight recorder: buffers go round, and what is in them\n"
				     "(of the last SECONDS) is written when SIGUSR2 comes, by\n"
				     "--control snapshot, by --switch-output-event, and at the\n"
				     "end"),
		OPTION_FLAG(0, "tail-synthesize", &options->tail_synthesize,
			    "look up what runs already at the end, not at the beginning"),
		OPTION_FLAG(0, "timestamp-filename", &options->timestamp_name,
			    "name the file FILE.DATE when it is complete"),
		OPTION_FLAG(0, "timestamp-boundary", &arguments->habit,
			    "note the times of the first and the last sample (always)"),
	};
	OPTION_TABLE_ADD(table, group);
}

static const struct option_refusal refusals[] = {
	{'B', "no-buildid", "the kernel says build-ids with each mapping, which costs nothing, and reports "
			    "find files by them"},
	{0, "affinity", "--threads=numa has a thread for each node's buffers, --threads one for each CPU"},
	{0, "debuginfod", "nothing is fetched while recording: sprof report has --debuginfod"},
	{0, "kcore", "the kernel's code is for decoding processor traces, which is perf's: `perf "
		     "buildid-cache --kcore /proc/kcore` keeps a copy for it"},
	{0, "num-thread-synthesize", "what runs already is looked up by one thread, some 20 us a task"},
	{0, "off-cpu", "it needs a BPF program; -e sched:sched_switch -g takes a sample wherever a thread "
		       "stops to wait, and --switch-events notes for how long"},
	{0, "off-cpu-thresh", "it is of --off-cpu, which needs a BPF program: take -e sched:sched_switch -g"},
	{0, "proc-map-timeout", "mappings are read whole, however long that takes"},
	{0, "setup-filter", "it is for perf's BPF filters of samples: --filter takes the kernel's own, of "
			    "tracepoints and traced addresses"},
	{0, "synth", "without what runs already samples would have no names, so it is always looked up"},
	{0, "vmlinux", "recording needs none: sprof report and sprof script take it"},
	{0, NULL, NULL},
};

static int parse_arguments(struct record_arguments *arguments, int argc, char **argv, int *operands)
{
	struct option_table table = {0};
	add_targets(&table, arguments);
	add_events(&table, arguments);
	add_calls(&table, arguments);
	add_course(&table, arguments);
	add_sample_fields(&table, arguments);
	add_side_band(&table, arguments);
	add_habits(&table, arguments);
	add_output(&table, arguments);
	add_files(&table, arguments);
	const char *const synopses[] = {
		"sprof record [OPTION]... [--] COMMAND [ARG]...",
		"sprof record [OPTION]... -p PID[,PID]... [[--] COMMAND [ARG]...]",
		"sprof record [OPTION]... -t TID[,TID]... [[--] COMMAND [ARG]...]",
		"sprof record [OPTION]... -a | -C CPUS [[--] COMMAND [ARG]...]",
		NULL,
	};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Samples a command, running processes or whole CPUs into a perf.data file.\n"
			 "A COMMAND beside -p, -t, -a or -C only says how long.",
		.options = table.items,
		.footer = "The command's exit status is passed on, as is the signal that ended it. 125: the\n"
			  "recorder itself failed; 126, 127: the command could not be run, was not found.",
		.refusals = refusals,
		.stop_at_operand = true,
	};
	return options_parse(&usage, argc, argv, operands);
}

/* What goes wrong with options taken together. Returns false after saying it. */
static bool check_arguments(const struct record_arguments *arguments)
{
	const struct sp_capture_options *options = &arguments->options;
	bool tasks = options->pids.count || options->tids.count || options->by_user;
	const char *what = NULL;
	if ((options->pids.count != 0) + (options->tids.count != 0) + options->by_user > 1)
		what = "of -p, -t and -u only one can be";
	else if (tasks && options->cgroups)
		what = "-G does not go with -p, -t or -u";
	else if (tasks && options->system_wide)
		what = "-a does not go with -p, -t or -u";
	else if (!tasks && !options->command && !options->system_wide && !options->cpus)
		what = "what shall be recorded? A command, -p PID, -t TID, -u USER, -a, -C CPUS or -G "
		       "CGROUP";
	else if (options->user_only && options->kernel_only)
		what = "--all-user and --all-kernel exclude each other";
	else if (options->keep_files && !options->switch_bytes && !options->switch_ns &&
		 !options->switch_on_demand && !options->overwrite)
		what = "--keep is for several files: with --switch-output";
	else if (options->overwrite && (options->switch_bytes || options->switch_ns))
		what = "--overwrite writes when something happens, not by size or time: "
		       "--switch-output=signal";
	else if (options->overwrite && options->max_bytes)
		what = "--overwrite writes what its buffers hold: -m, not --max-size, says how much";
	else if (options->overwrite && options->snapshot)
		what = "--overwrite and --snapshot exclude each other";
	else if (options->freq_hz && options->period)
		what = "-F and -c exclude each other";
	else if (options->kernel_chains && options->user_chains)
		what = "--kernel-callchains and --user-callchains exclude each other";
	else if (options->remove_on_exec && !tasks)
		what = "--remove-on-exec is for what runs already: with -p, -t or -u";
	else if (options->scope == SP_CAPTURE_SCOPE_TASK &&
		 (options->system_wide || (options->cpus && !tasks)))
		what = "--scope task does not go with -a, nor with -C alone";
	if (!what)
		return true;
	diag_say("%s", what);
	diag_more("'sprof record --help' lists the options.");
	return false;
}

int record_arguments_parse(struct record_arguments *arguments, int argc, char **argv)
{
	struct sp_capture_options *options = &arguments->options;
	int operands = argc;
	int status = parse_arguments(arguments, argc, argv, &operands);
	if (status >= 0)
		return status;
	options->event_lists = arguments->events.items;
	options->event_list_count = arguments->events.count;
	options->pids = option_numbers_list(&arguments->pids);
	options->tids = option_numbers_list(&arguments->tids);
	if (operands < argc)
		options->command = (const char *const *)&argv[operands];
	return check_arguments(arguments) ? -1 : EXIT_USAGE;
}
