/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/stat/stat_arguments.h"
#include "cmd/common/child.h"
#include "command.h"
#include "diag.h"

/* Limit of times in ms: one year. */
#define MS_MAX (365ull * 24 * 3600 * 1000)
#define MS_WANTED "a number of milliseconds above 0"

static bool parse_delay(const struct option *option, const char *text)
{
	uint64_t ms;
	if (!strcmp(text, "-1")) {
		*(int64_t *)option->value = -1;
		return true;
	}
	if (!option_text_number(text, 0, MS_MAX, &ms))
		return option_reject(option, text, "a number of milliseconds, or -1");
	*(int64_t *)option->value = (int64_t)ms;
	return true;
}

static bool parse_detail(const struct option *option, const char *text)
{
	(void)text;
	++*(unsigned int *)option->value;
	return true;
}

static bool parse_cache(const struct option *option, const char *text)
{
	struct stat_request *options = option->value;
	uint64_t level = 0;
	const char *digits = text && (*text == 'L' || *text == 'l') ? text + 1 : text;
	if (digits && !option_text_number(digits, 1, 9, &level))
		return option_reject(option, text, "a cache's level such as L2");
	options->all.aggregate = SP_STAT_CACHE;
	options->all.cache_level = (uint32_t)level;
	return true;
}

/* Parses a list of cgroups; names may be empty: "a,,b". */
static bool parse_cgroups(const struct option *option, const char *text)
{
	struct option_strings *strings = option->value;
	for (;;) {
		size_t size = strcspn(text, ",");
		option_strings_push(strings, text, size);
		if (!text[size])
			return true;
		text += size + 1;
	}
}

static bool parse_separator(const struct option *option, const char *text)
{
	*(const char **)option->value = strcmp(text, "\\t") ? text : "\t";
	return true;
}

/* Checks for options that exclude each other. Returns false after printing the error. */
static bool check(const struct stat_arguments *arguments)
{
	const struct stat_request *options = &arguments->options;
	const struct sp_stat_target *target = &options->target;
	bool tasks = arguments->pids.count || arguments->tids.count;
	const char *what = NULL;
	if (arguments->pids.count && arguments->tids.count)
		what = "-p and -t exclude each other";
	else if (tasks && target->system_wide)
		what = "-a and -p or -t exclude each other";
	else if (!tasks && !target->command && !target->system_wide && !target->cpus &&
		 options->all.aggregate != SP_STAT_THREAD)
		what = "nothing to count: give a COMMAND, -p PID, -t TID, -a or -C CPUS";
	else if (options->events.user_only && options->events.kernel_only)
		what = "--all-user and --all-kernel exclude each other";
	else if (arguments->separator && arguments->json)
		what = "-x and -j exclude each other";
	else if (arguments->output && arguments->log_fd)
		what = "-o and --log-fd exclude each other";
	else if (arguments->cgroups.count && arguments->each_cgroup.count)
		what = "-G and --for-each-cgroup exclude each other";
	else if (arguments->runs != 1 && options->all.aggregate == SP_STAT_THREAD)
		what = "-r and --per-thread exclude each other: threads differ between runs";
	else if (arguments->runs != 1 && !options->target.command)
		what = "-r needs a COMMAND to repeat";
	else if ((arguments->interval_count || arguments->interval_clear || arguments->summary) &&
		 !arguments->interval_ms)
		what = "--interval-count, --interval-clear and --summary need -I MS";
	else if (arguments->table && !arguments->repeated)
		what = "--table needs -r N with at least 2 runs";
	else if (arguments->delay_ms < 0 && !arguments->control)
		what = "-D -1 starts disabled: it needs --control to enable events";
	if (!what)
		return true;
	diag_print("%s", what);
	diag_more("'sprof stat --help' lists the options.");
	return false;
}

static const char *const synopses[] = {
	"sprof stat [OPTION]... [--] COMMAND [ARG]...",
	"sprof stat [OPTION]... -p PID,... | -t TID,... [[--] COMMAND [ARG]...]",
	"sprof stat [OPTION]... -a | -C LIST [[--] COMMAND [ARG]...]",
	NULL,
};

/* Beginning of the message for options about perf's metrics. */
#define METRICS "perf's metric tables are not supported: "

static const struct option_refusal refusals[] = {
	{'M', "metrics", METRICS "name events with -e; ratios such as IPC are printed with the counts "
			 "(--metric-only: alone)"},
	{0, "metric-no-group", METRICS "name events with -e"},
	{0, "metric-no-merge", METRICS "name events with -e"},
	{0, "metric-no-threshold", METRICS "name events with -e"},
	{0, "topdown", METRICS "if the processor has them, count -e "
		       "'{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}'"},
	{0, "td-level", METRICS "name events with -e"},
	{'T', "transaction", METRICS "if the processor has them, count -e "
			     "'{instructions,cycles,cycles-t,tx-start,el-start,cycles-ct}'"},
	{0, "smi-cost", METRICS "count -a -e '{msr/aperf/,msr/smi/,cycles}', with 1 in "
			"/sys/bus/event_source/devices/cpu/freeze_on_smi: aperf minus cycles is the "
			"time in SMIs"},
	{0, "iostat", "perf's formulas are not supported; count -e uncore_iio_0/EVENT/ (sprof list pmu)"},
	{0, "cputype", "name the CPU type with the event: -e cpu_atom/cycles/"},
	{0, "pmu-filter", "name the PMU with the event: -e hisi_sicl2_cpa0/EVENT/"},
	{0, "hybrid-merge", "each CPU type has its own row"},
	{0, "percore-show-thread", "--per-core sums over a core's threads, -A shows each"},
	{0, "affinity", "use `taskset` to place sprof"},
	{0, "bpf-counters", "counts come from the kernel's counters"},
	{'b', "bpf-prog", "the kernel counts runs of BPF programs: sysctl kernel.bpf_stats_enabled=1, then "
			  "`bpftool prog` shows them"},
	{0, "record-tpebs", "use sprof record -W -e EVENT:P to sample "
			    "instruction latencies"},
	{0, "tpebs-mode", "use sprof record -W -e EVENT:P to sample instruction latencies"},
	{0, NULL, NULL},
};

static int parse_table(const struct option *table, int argc, char **argv, int *operands)
{
	const struct option_usage usage = {
		.synopses = synopses,
		.about = "Counts events of a command, of running processes or of whole CPUs.\n"
			 "With -p, -t, -a or -C, COMMAND is not counted: counting stops when it exits.",
		.example = "sprof stat -r 5 ./program",
		.options = table,
		.refusals = refusals,
		.footer = "Exit status: COMMAND's; 125: counting failed; 126: COMMAND could not be\n"
			  "executed; 127: COMMAND was not found; 129: invalid command line.",
		.stop_at_operand = true,
	};
	return options_parse(&usage, argc, argv, operands);
}

static void add_counted(struct option_table *table, struct stat_arguments *arguments)
{
	struct stat_request *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Events and target:"),
		OPTION_CALL('e', "event", "EVENT,...", &arguments->events, event_lists_parse,
			    "count these events; {a,b}: count them together"),
		OPTION_CALL('d', "detailed", NULL, &options->events.detail, parse_detail,
			    "count cache events, too; -dd, -ddd: more of them"),
		OPTION_NUMBERS('p', "pid", "PID,...", &arguments->pids, "count in running processes"),
		OPTION_NUMBERS('t', "tid", "TID,...", &arguments->tids, "count in running threads"),
		OPTION_FLAG('a', "all-cpus", &options->target.system_wide, "count on all CPUs"),
		OPTION_STRING('C', "cpu", "LIST", &options->target.cpus,
			      "count on these CPUs only, such as 0-3,5"),
		OPTION_CALL(0, "for-each-cgroup", "NAME,...", &arguments->each_cgroup, parse_cgroups,
			    "count all events in each of these control groups"),
		OPTION_FLAG(0, "all-user", &options->events.user_only, "count user space only"),
		OPTION_FLAG(0, "all-kernel", &options->events.kernel_only, "count the kernel only",
			    .rare = true),
		OPTION_CALL(0, "filter", "FILTER", &arguments->events, event_lists_parse_filter,
			    "filter the tracepoints of the preceding -e by their fields, such as "
			    "\"count > 100\"", .rare = true),
		OPTION_CALL(0, "pfm-events", "EVENT,...", &arguments->events, event_lists_parse_pfm,
			    "count events by their libpfm names", .rare = true),
		OPTION_FLAG('n', "null", &options->events.time_only, "count no events, only measure times",
			    .rare = true),
		OPTION_CALL('G', "cgroup", "NAME,...", &arguments->cgroups, parse_cgroups,
			    "count the first event in the first control group, and so on; the "
			    "last group gets the remaining events; with -a or -C", .rare = true),
		OPTION_OFF('i', "no-inherit", &options->target.inherit,
			    "do not inherit events into new threads and children", .rare = true),
		OPTION_CHOICE(0, "scale", &arguments->scale,
			      "scale counts of multiplexed events (default)", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_course(struct option_table *table, struct stat_arguments *arguments)
{
	const struct option group[] = {
		OPTION_GROUP("Runs and intervals:"),
		OPTION_NUMBER('r', "repeat", "N", &arguments->runs,
			      "run COMMAND N times, print means and intervals"),
		OPTION_UP_TO('I', "interval-print", "MS", &arguments->interval_ms, MS_MAX,
			     MS_WANTED, "print counts every MS milliseconds"),
		OPTION_UP_TO(0, "timeout", "MS", &arguments->timeout_ms, MS_MAX, MS_WANTED,
			     "stop after MS milliseconds, and terminate COMMAND"),
		OPTION_CALL('D', "delay", "MS", &arguments->delay_ms, parse_delay,
			    "start counting after MS ms; -1: by --control", .rare = true),
		OPTION_NUMBER(0, "interval-count", "N", &arguments->interval_count,
			      "with -I: print N intervals", .rare = true),
		OPTION_FLAG(0, "interval-clear", &arguments->interval_clear,
			    "with -I: clear the screen before each interval", .rare = true),
		OPTION_FLAG(0, "summary", &arguments->summary, "with -I: print totals at the end",
			    .rare = true),
		OPTION_FLAG(0, "no-csv-summary", &arguments->no_csv_summary,
			    "with -I, --summary and -x: do not print \"summary\" before totals",
			    .rare = true),
		OPTION_FLAG(0, "table", &arguments->table, "with -r: print each run's time, too",
			    .rare = true),
		OPTION_STRING(0, "pre", "COMMAND", &arguments->before,
			      "run the shell command COMMAND before each run", .rare = true),
		OPTION_STRING(0, "post", "COMMAND", &arguments->after,
			      "run the shell command COMMAND after each run", .rare = true),
		OPTION_FLAG('S', "sync", &arguments->sync, "call sync(2) before each run",
			    .rare = true),
		OPTION_STRING(0, "control", "HOW", &arguments->control,
			      "read commands (enable, disable, ping, stop) from fd:CTL[,ACK] or "
			      "fifo:CTL[,ACK]", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_places(struct option_table *table, struct stat_arguments *arguments)
{
	struct stat_request *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Aggregation:"),
		OPTION_SET('A', "no-aggr", &options->all.aggregate, SP_STAT_CPU,
			    "print counts per CPU"),
		OPTION_SET(0, "per-core", &options->all.aggregate, SP_STAT_CORE,
			    "sum counts per core"),
		OPTION_SET(0, "per-socket", &options->all.aggregate, SP_STAT_SOCKET,
			    "sum counts per socket"),
		OPTION_SET(0, "per-thread", &options->all.aggregate, SP_STAT_THREAD,
			    "sum counts per thread"),
		OPTION_SET(0, "per-die", &options->all.aggregate, SP_STAT_DIE,
			    "sum counts per die", .rare = true),
		OPTION_SET(0, "per-cluster", &options->all.aggregate, SP_STAT_CLUSTER,
			    "sum counts per cluster of cores", .rare = true),
		OPTION_CALL_ATTACHED(0, "per-cache", "LEVEL", options, parse_cache,
				     "sum counts per cache, such as =L2 (default: last level)",
				     .rare = true),
		OPTION_SET(0, "per-node", &options->all.aggregate, SP_STAT_NODE,
			    "sum counts per NUMA node", .rare = true),
		OPTION_SET(0, "no-merge", &options->all.aggregate, SP_STAT_CPU,
			    "same as --no-aggr", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_output(struct option_table *table, struct stat_arguments *arguments)
{
	const struct option group[] = {
		OPTION_GROUP("Output:"),
		OPTION_CALL('x', "field-separator", "SEP", &arguments->separator, parse_separator,
			    "print CSV as perf does, with SEP between columns"),
		OPTION_FLAG('j', "json-output", &arguments->json, "print perf's JSON, one object per line"),
		OPTION_FLAG(0, "metric-only", &arguments->metric_only,
			    "print derived metrics (IPC, miss rates, ...) only"),
		OPTION_STRING('o', "output", "FILE", &arguments->output,
			      "write to FILE (default: stderr)"),
		OPTION_FLAG('q', "quiet", &arguments->quiet, "print counts and errors only"),
		OPTION_FLAG('v', "verbose", &arguments->verbose,
			    "print each step, and why events are not supported"),
		OPTION_FLAG(0, "append", &arguments->append, "with -o: append to FILE", .rare = true),
		OPTION_STRING(0, "log-fd", "N", &arguments->log_fd, "write to file descriptor N",
			      .rare = true),
		OPTION_CHOICE('B', "big-num", &arguments->big_numbers,
			      "print thousands separators of the locale (default)", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static int parse(struct stat_arguments *arguments, int argc, char **argv, int *operands)
{
	struct option_table table = {0};
	add_counted(&table, arguments);
	add_course(&table, arguments);
	add_places(&table, arguments);
	add_output(&table, arguments);
	return parse_table(table.items, argc, argv, operands);
}

int stat_arguments_parse(struct stat_arguments *arguments, int argc, char **argv, int *operands)
{
	struct stat_request *options = &arguments->options;
	arguments->runs = 1;
	*options = (struct stat_request){
		.target.size = sizeof(options->target),
		.events.size = sizeof(options->events),
		.all.size = sizeof(options->all),
	};
	arguments->big_numbers = arguments->scale = -1;
	int status = parse(arguments, argc, argv, operands);
	if (status >= 0)
		return status;
	if (*operands < argc)
		options->target.command = (const char *const *)&argv[*operands];
	options->events.lists = arguments->events.items;
	options->events.list_count = arguments->events.count;
	options->target.pids = option_numbers_list(&arguments->pids);
	options->target.tids = option_numbers_list(&arguments->tids);
	options->target.each_cgroup = arguments->each_cgroup.count > 0;
	options->target.cgroups = option_strings_list(options->target.each_cgroup ? &arguments->each_cgroup
								    : &arguments->cgroups);
	options->events.scale = arguments->scale ? SP_ON : SP_OFF;
	options->all.disabled = arguments->delay_ms != 0;
	arguments->repeated = arguments->runs > 1;
	return child_check_command(options->target.command, &arguments->pids) && check(arguments)
		       ? -1
		       : EXIT_USAGE;
}

void stat_arguments_deinit(struct stat_arguments *arguments)
{
	option_numbers_deinit(&arguments->pids);
	option_numbers_deinit(&arguments->tids);
	option_strings_deinit(&arguments->cgroups);
	option_strings_deinit(&arguments->each_cgroup);
	event_lists_deinit(&arguments->events);
}
