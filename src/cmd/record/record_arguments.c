/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parser of the command line of `sprof record`. */
#include "cmd/record/record_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/common/child.h"
#include "cmd/record/file_options.h"
#include "cmd/record/values.h"
#include "command.h"
#include "diag.h"
#include "out/output.h"

void record_arguments_deinit(struct record_arguments *arguments)
{
	option_numbers_deinit(&arguments->pids);
	option_numbers_deinit(&arguments->tids);
	event_lists_deinit(&arguments->events);
	free(arguments->spans);
}

struct sp_capture_options record_capture_options(struct record_options *groups)
{
	groups->target.size = sizeof(groups->target);
	groups->sampling.size = sizeof(groups->sampling);
	groups->fields.size = sizeof(groups->fields);
	groups->chains.size = sizeof(groups->chains);
	groups->buffers.size = sizeof(groups->buffers);
	groups->output.size = sizeof(groups->output);
	groups->schedule.size = sizeof(groups->schedule);
	return (struct sp_capture_options){
		.size = sizeof(struct sp_capture_options),
		.target = &groups->target,
		.sampling = &groups->sampling,
		.fields = &groups->fields,
		.chains = &groups->chains,
		.buffers = &groups->buffers,
		.output = &groups->output,
		.schedule = &groups->schedule,
	};
}

static void add_targets(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Target:"),
		OPTION_NUMBERS('p', "pid", "PID,...", &arguments->pids,
			       "sample running processes, all their threads"),
		OPTION_FLAG(0, "descendants", &options->target.descendants,
			    "with -p: sample their running descendants, too",
			    .rare = true),
		OPTION_NUMBERS('t', "tid", "TID,...", &arguments->tids, "sample running threads"),
		OPTION_FLAG('a', "all-cpus", &options->target.system_wide, "sample all CPUs and processes"),
		OPTION_STRING('C', "cpu", "LIST", &options->target.cpus,
			      "sample these CPUs only, such as 0-3,5"),
		OPTION_CALL('u', "uid", "USER", options, record_parse_user,
			    "sample the running processes of USER (name or uid)", .rare = true),
		OPTION_CALL('G', "cgroup", "NAME,...", options, record_parse_cgroups,
			    "sample control groups: one, or one per event of -e"),
		OPTION_CALL(0, "unit", "NAME", options, record_parse_unit,
			    "sample the control group of a systemd unit"),
		OPTION_WORD(0, "scope", "WHERE", &options->target.scope, "auto, cpu or task",
			    "cpu: per-CPU events, filtered to the target; task: per-task events, "
			    "inherited; auto (default): cpu if permitted, up to 5,000 Hz",
			    .rare = true),
		OPTION_OFF('i', "no-inherit", &options->target.inherit,
			    "do not inherit events into new threads and children", .rare = true),
		OPTION_CALL(0, "inherit", "WHAT", options, record_parse_inherit,
			    "inherit events into new threads and children (all, the default), "
			    "into threads only (thread), or not (none)", .rare = true),
		OPTION_CALL(0, "per-thread", NULL, options, record_parse_per_thread,
			    "open events on the given threads only: --scope task -i",
			    .rare = true),
		OPTION_FLAG(0, "remove-on-exec", &options->target.remove_on_exec,
			    "with -p, -t or -u: stop sampling a process when it calls exec",
			    .rare = true),
		OPTION_FLAG(0, "runtime-names", &arguments->runtime_names,
			    "make Java, Node.js, Python and .NET write symbols"),
		OPTION_FLAG(0, "exclude-perf", &options->target.exclude_self,
			    "do not sample the recorder itself", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_events(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Sampling:"),
		OPTION_CALL('e', "event", "EVENT,...", &arguments->events, event_lists_parse,
			    "sample these events (default: cycles or cpu-clock)"),
		OPTION_CALL('F', "freq", "HZ|max", &options->sampling.freq_hz, record_parse_frequency,
			    "sample at HZ (default: 997; clocks of tasks: 809)"),
		OPTION_CALL('c', "count", "N", &options->sampling.period, record_parse_count,
			    "sample every N events, instead of -F"),
		OPTION_CALL_ATTACHED(0, "off-cpu", "MS", &options->sampling, record_parse_off_cpu,
				     "record where threads wait, too"),
		OPTION_CALL(0, "off-cpu-thresh", "MS", &options->sampling, record_parse_off_cpu_threshold,
			    "thin waits that are shorter than MS milliseconds (default: 1), as "
			    "--off-cpu=MS", .rare = true),
		OPTION_CALL(0, "wakers", NULL, &options->sampling, record_parse_wakers,
			    "as --off-cpu, and record which threads wake others", .rare = true),
		OPTION_CALL(0, "duration", "SECONDS", &arguments->duration_ns, record_parse_duration,
			    "stop after SECONDS, and terminate COMMAND"),
		OPTION_NUMBER(0, "repeat", "N", &arguments->repeat,
			      "record N runs of COMMAND, for sprof diff"),
		OPTION_STRING(0, "versus", "COMMAND", &arguments->versus,
			      "with --repeat: run COMMAND in turns (one word: with the same "
			      "arguments), and compare", .rare = true),
		OPTION_CALL(0, "filter", "FILTER", &arguments->events, event_lists_parse_filter,
			    "filter the events of the preceding -e: by tracepoint fields, or by "
			    "traced addresses", .rare = true),
		OPTION_CALL(0, "pfm-events", "EVENT,...", &arguments->events,
			    event_lists_parse_pfm, "sample events by their libpfm names",
			    .rare = true),
		OPTION_FLAG(0, "strict-freq", &options->sampling.strict_freq,
			    "fail if the kernel does not permit the frequency of -F",
			    .rare = true),
		OPTION_OFF('n', "no-samples", &options->sampling.samples,
			    "record no samples, only task and mapping records", .rare = true),
		OPTION_CALL('b', "branch-any", NULL, &options->fields, record_parse_branch_any,
			    "record the last branches before each sample"),
		OPTION_FLAG(0, "all-user", &options->sampling.user_only, "sample user space only"),
		OPTION_FLAG(0, "all-kernel", &options->sampling.kernel_only, "sample the kernel only",
			    .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_calls(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_SET('g', NULL, &options->chains.call_graph, SP_CALL_GRAPH_AUTO,
			   "record call chains (default)"),
		OPTION_CALL(0, "call-graph", "HOW", options, record_parse_call_graph,
			    "unwind by fp, dwarf[,SIZE], fp,defer or lbr; none: record no call "
			    "chains"),
		OPTION_WORD(0, "unwind", "WHEN", &options->chains.unwind, "live or later",
			    "with dwarf: unwind while recording (live, the default), or copy the "
			    "stacks to the file, and unwind in the report (later)", .rare = true),
		OPTION_OFF(0, "no-python", &options->chains.python,
			   "do not add Python functions and lines to stacks of CPython 3.11 to 3.14",
			   .rare = true),
		OPTION_UP_TO(0, "max-stack", "N", &options->chains.max_stack, UINT16_MAX,
			     "a number of frames, 1 to 65535",
			     "record at most N frames of a call chain", .rare = true),
		OPTION_FLAG(0, "kernel-callchains", &options->chains.kernel_only,
			    "record only the kernel's part of call chains", .rare = true),
		OPTION_FLAG(0, "user-callchains", &options->chains.user_only,
			    "record only the user part of call chains", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_course(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_CALL('D', "delay", "MS", arguments, record_parse_delay,
			    "start sampling after MS ms; -1: start disabled, enable by --control "
			    "or SIGUSR1; 10-20,30-40: in these ranges only", .rare = true),
		OPTION_STRING(0, "control", "HOW", &arguments->control,
			      "read commands (enable, disable, snapshot, ping, evlist, stop) from "
			      "fd:CTL[,ACK] or fifo:CTL[,ACK]", .rare = true),
		OPTION_CALL('k', "clockid", "CLOCK", options, record_parse_clock,
			    "use this clock: monotonic (default), monotonic_raw, realtime, "
			    "boottime, tai or a number", .rare = true),
		OPTION_FLAG(0, "tail-synthesize", &options->schedule.tail_synthesize,
			    "read /proc for running processes at the end, not at the start",
			    .rare = true),
		OPTION_FLAG(0, "dry-run", &arguments->dry_run,
			    "open all events, print what would change, and exit", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_output(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Output:"),
		OPTION_STRING('o', "output", "FILE", &options->output.path,
			      "write to FILE (default: sprof.data; -: stdout)"),
		OPTION_UP_TO('z', "compression-level", "LEVEL",
			     &options->output.compression_level, 22, "a level, 1 to 22",
			     "compress with zstd, LEVEL 1 (default) to 22",
			     .optional = true, .attached = true),
		OPTION_CALL(0, "max-size", "SIZE", &options->output.max_bytes, record_parse_max_size,
			    "stop before the file exceeds SIZE (B, K, M, G)", .rare = true),
		OPTION_CALL_ATTACHED(0, "switch-output", "WHEN", options, record_parse_switch_output,
				     "start a new file on SIGUSR2 (signal, the default), at a size "
				     "(100M) or after a time (30s, 1h)"),
		OPTION_CALL_ATTACHED(0, "overwrite", "SECONDS", options, record_parse_overwrite,
				     "flight recorder: overwrite the oldest data; SIGUSR2 dumps the "
				     "buffers (the last SECONDS)"),
		OPTION_UP_TO(0, "keep", "N", &options->output.keep_files, UINT32_MAX,
			     "a number of files", "keep the last N files of --switch-output",
			     .rare = true),
		OPTION_UP_TO(0, "switch-max-files", "N", &options->output.keep_files, UINT32_MAX,
			     "a number of files", "perf's name of --keep", .rare = true),
		OPTION_CALL(0, "switch-output-event", "EVENT", options, record_parse_switch_event,
			    "start a new file when EVENT occurs; EVENT is not recorded",
			    .rare = true),
		OPTION_FLAG(0, "timestamp-filename", &options->output.timestamp_name,
			    "rename the finished file to FILE.DATE", .rare = true),
		OPTION_FLAG(0, "sync", &options->output.sync,
			    "call fdatasync after each write: the recording survives a power loss",
			    .rare = true),
		OPTION_FLAG(0, "no-names", &arguments->no_names,
			    "do not store the names of functions in the recording", .rare = true),
		OPTION_FLAG(0, "store-code", &arguments->store_code,
			    "store the instructions of sampled functions: 'sprof annotate' then "
			    "needs no file", .rare = true),
		OPTION_FLAG('q', "quiet", &arguments->quiet,
			    "print errors only"),
		OPTION_FLAG(0, "no-summary", &arguments->no_summary,
			    "do not print the hottest functions at the end", .rare = true),
		OPTION_FLAG('v', "verbose", &arguments->verbose, "print each step"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_buffers(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Ring buffers:"),
		OPTION_CALL('m', "mmap-pages", "SIZE", options, record_parse_ring_size,
			    "set each CPU's buffer size: pages, or such as 4M; SIZE,AUX: set the "
			    "AUX area's size, too"),
		OPTION_CALL_ATTACHED(0, "threads", "HOW", options, record_parse_threads,
				     "reader threads: one per cpu (without HOW), core, package or "
				     "NUMA node, or N; none: read in the writer thread; auto is the "
				     "default", .rare = true),
		OPTION_UP_TO('r', "realtime", "PRIORITY", &options->buffers.realtime, 99,
			     "a priority, 1 to 99",
			     "read the buffers with real-time priority 1 to 99 (SCHED_FIFO)",
			     .rare = true),
		OPTION_OFF(0, "no-dither", &options->sampling.dither,
			    "do not vary the rate of CPU-wide clocks (default: 50% to 150% of -F, "
			    "at random)", .rare = true),
		OPTION_OFF(0, "no-adapt", &options->sampling.adapt,
			    "do not reduce the rate when more than 10% of samples are lost "
			    "(default: divide it by 4)", .rare = true),
		OPTION_CALL(0, "mmap-flush", "SIZE", &options->buffers.wakeup_bytes, record_parse_flush,
			    "read a buffer when it contains SIZE bytes", .rare = true),
		OPTION_UP_TO(0, "wakeup-events", "N", &options->buffers.wakeup_samples, UINT32_MAX,
			     "a number of samples", "read a buffer every N samples",
			     .rare = true),
		OPTION_SET(0, "no-buffering", &options->buffers.wakeup_samples, 1,
			   "read a buffer after each sample", .rare = true),
		OPTION_CALL_ATTACHED('S', "snapshot", "SIZE", options, record_parse_snapshot,
				     "overwrite AUX areas of SIZE; SIGUSR2 writes them to the file",
				     .rare = true),
		OPTION_CALL_ATTACHED(0, "aux-sample", "SIZE", &options->buffers.aux_sample_bytes,
				     record_parse_aux_sample,
				     "add the last SIZE bytes (default: 4096) of the first event's "
				     "AUX area to samples of the other events", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_sample_fields(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_fields *fields = &arguments->options.fields;
	const struct option group[] = {
		OPTION_GROUP("Additional sample fields:"),
		OPTION_CALL('d', "data", NULL, fields, record_parse_data,
			    "record data addresses, memory access types and data mappings",
			    .rare = true),
		OPTION_CALL('j', "branch-filter", "TYPE,...", fields, record_parse_branch_filter,
			    "record branches by type: any, any_call, any_ret, ind_call, call, "
			    "cond, ind_jmp, in_tx, no_tx, abort_tx, stack; only in u, k, hv; add "
			    "save_type, priv, hw_index, counter; remove no_flags, no_cycles",
			    .rare = true),
		OPTION_FLAG('W', "weight", &fields->weight,
			    "record latency in cycles, of events that have it", .rare = true),
		OPTION_BITS(0, "sample-mem-info", &fields->sample_type, PERF_SAMPLE_DATA_SRC,
			    "record how memory was accessed: level, snoop, TLB", .rare = true),
		OPTION_BITS(0, "phys-data", &fields->sample_type, PERF_SAMPLE_PHYS_ADDR,
			    "record the physical data address", .rare = true),
		OPTION_BITS(0, "data-page-size", &fields->sample_type, PERF_SAMPLE_DATA_PAGE_SIZE,
			    "record the page size at the data address", .rare = true),
		OPTION_BITS(0, "code-page-size", &fields->sample_type, PERF_SAMPLE_CODE_PAGE_SIZE,
			    "record the page size at the instruction", .rare = true),
		OPTION_BITS(0, "transaction", &fields->sample_type, PERF_SAMPLE_TRANSACTION,
			    "record how hardware transactions ended", .rare = true),
		OPTION_CALL_ATTACHED('I', "intr-regs", "REG,...", fields,
				     record_parse_interrupt_registers,
				     "record registers at the sampled instruction (--intr-regs=? "
				     "lists them)", .rare = true),
		OPTION_CALL_ATTACHED(0, "user-regs", "REG,...", fields,
				     record_parse_user_registers,
				     "record user-space registers (--user-regs=? lists them)",
				     .rare = true),
		OPTION_BITS('R', "raw-samples", &fields->sample_type, PERF_SAMPLE_RAW,
			    "record raw data of all events", .rare = true),
		OPTION_CALL(0, "all-cgroups", NULL, fields, record_parse_all_cgroups,
			    "record each sample's control group, and CGROUP records",
			    .rare = true),
		OPTION_BITS(0, "sample-id", &fields->sample_type, PERF_SAMPLE_ID,
			    "record the event's id for readers before Linux 3.12", .rare = true),
		OPTION_BITS(0, "sample-stream-id", &fields->sample_type, PERF_SAMPLE_STREAM_ID,
			    "record the id of the inherited event",
			    .rare = true),
		OPTION_BITS('T', "timestamp", &fields->sample_type, 0,
			    "record times (always done)", .rare = true),
		OPTION_BITS('P', "period", &fields->sample_type, 0,
			    "record periods (always done)", .rare = true),
		OPTION_BITS(0, "sample-cpu", &fields->sample_type, 0,
			    "record CPUs (always done)", .rare = true),
		OPTION_BITS(0, "sample-identifier", &fields->sample_type, 0,
			    "record the event's id (always done)",
			    .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_side_band(struct option_table *table, struct record_arguments *arguments)
{
	struct sp_capture_fields *fields = &arguments->options.fields;
	const struct option group[] = {
		OPTION_GROUP("Additional records:"),
		OPTION_CHOICE(0, "switch-events", &arguments->switches,
			      "record all context switches, or none (default: with events of "
			      "tasks, up to 10,000 a second)", .rare = true),
		OPTION_CHOICE(0, "latency", &arguments->switches,
			      "record what 'perf report --latency' needs: --switch-events",
			      .rare = true),
		OPTION_CHOICE(0, "command-lines", &arguments->command_lines,
			      "record the command lines of processes, without their secrets "
			      "(default: only those that COMMAND starts)", .rare = true),
		OPTION_FLAG('s', "stat", &fields->thread_counts,
			    "record each thread's event counts when it exits", .rare = true),
		OPTION_FLAG(0, "running-time", &fields->running_time,
			    "add enabled and running times to event counts", .rare = true),
		OPTION_FLAG(0, "namespaces", &fields->namespaces, "record tasks' namespaces",
			    .rare = true),
		OPTION_FLAG(0, "data-mmap", &fields->data_mappings, "record data mappings",
			    .rare = true),
		OPTION_OFF(0, "no-bpf-event", &fields->bpf_programs,
			    "do not record loading and unloading of BPF programs", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

/* Adds options of perf that sprof accepts without effect, because it always does what they request. */
static void add_habits(struct option_table *table, struct record_arguments *arguments)
{
	bool *habit = &arguments->habit;
	const struct option group[] = {
		OPTION_GROUP("Accepted for perf compatibility (always done):"),
		OPTION_FLAG('N', "no-buildid-cache", habit, "store no copies of files",
			    .rare = true),
		OPTION_FLAG(0, "buildid-all", habit, "record build-ids of all mapped files",
			    .rare = true),
		OPTION_FLAG(0, "buildid-mmap", habit,
			    "record build-ids in mapping records if the kernel provides them",
			    .rare = true),
		OPTION_CALL_ATTACHED(0, "aio", "N", habit, record_parse_habit,
				     "write the file asynchronously", .rare = true),
		OPTION_FLAG(0, "timestamp-boundary", habit,
			    "record the times of the first and last sample in the header",
			    .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static const struct option_refusal refusals[] = {
	{'B', "no-buildid", "build-ids come with the kernel's mapping records, cost nothing, and identify "
			    "the files in reports"},
	{0, "affinity", "use --threads=numa (a reader thread per node) or --threads (per CPU)"},
	{0, "debuginfod", "recording downloads nothing; use sprof report --debuginfod"},
	{0, "kcore", "the kernel's code is for decoding processor traces, which is perf's: `perf "
		     "buildid-cache --kcore /proc/kcore` keeps a copy for it"},
	{0, "num-thread-synthesize", "one thread reads /proc, about 20 us per task"},
	{0, "proc-map-timeout", "mappings are always read completely"},
	{0, "setup-filter", "BPF filters are not supported; --filter filters tracepoints and traced "
			    "addresses"},
	{0, "synth", "running processes are always read, for symbols"},
	{0, "vmlinux", "use it with sprof report or sprof script"},
	{0, NULL, NULL},
};

static int parse_arguments(struct record_arguments *arguments, int argc, char **argv, int *operands)
{
	struct option_table table = {0};
	add_targets(&table, arguments);
	add_events(&table, arguments);
	add_calls(&table, arguments);
	add_course(&table, arguments);
	add_output(&table, arguments);
	add_buffers(&table, arguments);
	add_sample_fields(&table, arguments);
	add_side_band(&table, arguments);
	add_habits(&table, arguments);
	const char *const synopses[] = {
		"sprof record [OPTION]... [--] COMMAND [ARG]...",
		"sprof record [OPTION]... -p PID[,PID]... [[--] COMMAND [ARG]...]",
		"sprof record [OPTION]... -t TID[,TID]... [[--] COMMAND [ARG]...]",
		"sprof record [OPTION]... -a | -C LIST | -G NAME [[--] COMMAND [ARG]...]",
		NULL,
	};
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Samples a command, running processes or whole CPUs into a perf.data file.\n"
			 "With -p, -t, -a or -C, COMMAND is not profiled: recording stops when it exits.",
		.example = "sprof record ./program; sprof report",
		.options = table.items,
		.footer = "Exit status: COMMAND's; 125: recording failed; 126: COMMAND could not be\n"
			  "executed; 127: COMMAND was not found; 129: invalid command line.",
		.refusals = refusals,
		.stop_at_operand = true,
	};
	return options_parse(&usage, argc, argv, operands);
}

/* Returns false after printing a message if --runtime-names has no command to set variables for. */
static bool check_runtime_names(const struct record_arguments *arguments)
{
	const struct record_options *options = &arguments->options;
	bool starts = options->target.command && !options->target.cgroups &&
		      !record_command_is_limit(options);
	if (!arguments->runtime_names || starts)
		return true;
	diag_print("--runtime-names needs a COMMAND that it starts, without -p, -t, -u, -a, -C and "
		   "-G");
	diag_more("For a running Java process, use 'jcmd PID Compiler.perfmap'; restart other programs.");
	return false;
}

/*
 * Checks the word after -g, which takes no value, as in perf. Returns false after printing that it
 * is no program, but a value of --call-graph.
 */
static bool check_graph_value(const char *before, const char *command)
{
	static const char *const values[] = {"dwarf", "fp", "lbr", "none",
					     "caller", "callee", "graph"};
	size_t size = strlen(before);
	bool is_graph = before[0] == '-' && before[1] != '-' && before[size - 1] == 'g';
	for (size_t i = 0; is_graph && i < sizeof(values) / sizeof(*values); i++) {
		size_t length = strcspn(command, ",");
		if (strncmp(command, values[i], length) || values[i][length] ||
		    child_is_program(command))
			continue;
		diag_print("-g takes no value, and there is no program '%s'", command);
		if (i < 4)
			diag_more("To unwind by '%s': --call-graph %s", command, command);
		else
			diag_more("The order of the call tree is an option of the report: "
				  "sprof report -g %s", command);
		return false;
	}
	return true;
}

/*
 * Handles -o with the name of a report, such as x.html, which is no name of a recording: sprof.data
 * gets the recording. Returns false after printing a message.
 */
static bool choose_view(struct record_arguments *arguments)
{
	struct sp_capture_output *output = &arguments->options.output;
	const char *path = output->path;
	bool picture = path && output_is_picture(path);
	if (!path || (!picture && !output_find_file(path)))
		return true;
	/* Files with a date in their names are not sprof.data. */
	bool dated = output->switch_on_demand || output->switch_bytes || output->switch_ns ||
		     output->timestamp_name || arguments->options.buffers.overwrite;
	arguments->view = path;
	output->path = NULL;
	if (!picture && !dated)
		return true;
	if (picture) {
		diag_print("-o %s: sprof has no pictures", path);
		diag_more("use -o %.*s.html, which has a flame graph, times and threads",
			  (int)(strrchr(path, '.') - path), path);
	} else {
		diag_print("-o %s excludes --switch-output, --overwrite and --timestamp-filename",
			   path);
		diag_more("record to FILE.data, then: sprof report -o %s FILE.data.*", path);
	}
	return false;
}

bool record_arguments_check(const struct record_arguments *arguments)
{
	const struct record_options *options = &arguments->options;
	const struct sp_capture_target *target = &options->target;
	const struct sp_capture_output *output = &options->output;
	const struct sp_capture_buffers *buffers = &options->buffers;
	bool tasks = target->pids.count || target->tids.count || target->by_user;
	const char *what = NULL;
	if (!child_check_command(target->command, &arguments->pids))
		return false;
	if ((target->pids.count != 0) + (target->tids.count != 0) + target->by_user > 1)
		what = "-p, -t and -u exclude each other";
	else if (tasks && target->cgroups)
		what = "-G excludes -p, -t and -u";
	else if (tasks && target->system_wide)
		what = "-a excludes -p, -t and -u";
	else if (!tasks && !target->command && !target->system_wide && !target->cpus)
		what = "nothing to record: give a COMMAND, -p, -t, -u, -a, -C, -G or --unit";
	else if (target->descendants && !target->pids.count)
		what = "--descendants needs -p PID";
	else if (target->unit && (tasks || target->cgroups))
		what = "--unit excludes -p, -t, -u and -G";
	else if (options->sampling.user_only && options->sampling.kernel_only)
		what = "--all-user and --all-kernel exclude each other";
	else if (output->keep_files && !output->switch_bytes && !output->switch_ns &&
		 !output->switch_on_demand && !buffers->overwrite)
		what = "--keep needs --switch-output";
	else if (buffers->overwrite && (output->switch_bytes || output->switch_ns))
		what = "--overwrite excludes --switch-output by size or time: use --switch-output=signal";
	else if (buffers->overwrite && output->max_bytes)
		what = "--overwrite excludes --max-size: -m sets the size of the ring buffers";
	else if (buffers->overwrite && buffers->snapshot)
		what = "--overwrite and --snapshot exclude each other";
	else if (options->sampling.freq_hz && options->sampling.period)
		what = "-F and -c exclude each other";
	else if (options->chains.kernel_only && options->chains.user_only)
		what = "--kernel-callchains and --user-callchains exclude each other";
	else if (target->remove_on_exec && !tasks)
		what = "--remove-on-exec needs -p, -t or -u";
	else if (arguments->store_code && arguments->no_names)
		what = "--store-code and --no-names exclude each other";
	else if (target->scope == SP_CAPTURE_SCOPE_TASK &&
		 (target->system_wide || (target->cpus && !tasks)))
		what = "--scope task excludes -a, and -C without -p, -t or -u";
	if (!what)
		return true;
	diag_print("%s", what);
	diag_more("'sprof %s --help' lists the options.", arguments->command_name);
	return false;
}

void record_arguments_use_lists(struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	options->sampling.event_lists = arguments->events.items;
	options->sampling.event_list_count = arguments->events.count;
	options->target.pids = option_numbers_list(&arguments->pids);
	options->target.tids = option_numbers_list(&arguments->tids);
}

int record_arguments_parse(struct record_arguments *arguments, int argc, char **argv)
{
	struct record_options *options = &arguments->options;
	int operands = argc;
	arguments->switches = arguments->command_lines = -1;
	int status = parse_arguments(arguments, argc, argv, &operands);
	if (status >= 0)
		return status;
	record_arguments_use_lists(arguments);
	if (arguments->command_lines >= 0)
		options->fields.command_lines = arguments->command_lines ? SP_ON : SP_OFF;
	if (arguments->switches >= 0)
		options->fields.switches = arguments->switches ? SP_ON : SP_OFF;
	if (operands < argc && !check_graph_value(argv[operands - 1], argv[operands]))
		return EXIT_USAGE;
	if (operands < argc)
		options->target.command = (const char *const *)&argv[operands];
	return choose_view(arguments) && record_arguments_check(arguments) &&
			       check_runtime_names(arguments)
		       ? -1
		       : EXIT_USAGE;
}

bool record_command_is_limit(const struct record_options *options)
{
	const struct sp_capture_target *target = &options->target;
	return target->command && (target->pids.count || target->tids.count || target->by_user ||
					   target->system_wide || target->cpus || target->unit);
}
