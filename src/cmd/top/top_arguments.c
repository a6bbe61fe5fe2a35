/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/top/top_arguments.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd/record/values.h"
#include "command.h"
#include "diag.h"

#define NS_PER_S 1000000000ull

/* Defaults: the window, and the number of rows in text and JSON. */
#define WINDOW_NS (10 * NS_PER_S)
#define ROWS 20

/* Limits of the window and of the time between refreshes. */
#define WINDOW_MIN_NS NS_PER_S
#define WINDOW_MAX_NS (600 * NS_PER_S)
#define DELAY_MIN_NS (NS_PER_S / 10)

/* Samples a second of all CPUs together that the default frequency allows for wide targets. */
#define WIDE_HZ 5000
#define DEFAULT_HZ 997

/* option->value: uint64_t *, in ns. */
static bool parse_window(const struct option *option, const char *text)
{
	uint64_t value_ns;
	if (!option_text_seconds(text, text + strlen(text), &value_ns) ||
	    value_ns < WINDOW_MIN_NS || value_ns > WINDOW_MAX_NS)
		return option_reject(option, text, "a time from 1 to 600 seconds");
	*(uint64_t *)option->value = value_ns;
	return true;
}

/* option->value: uint64_t *, in ns. */
static bool parse_delay(const struct option *option, const char *text)
{
	uint64_t value_ns;
	if (!option_text_seconds(text, text + strlen(text), &value_ns) || value_ns < DELAY_MIN_NS ||
	    value_ns > WINDOW_MAX_NS)
		return option_reject(option, text, "a time from 0.1 to 600 seconds");
	*(uint64_t *)option->value = value_ns;
	return true;
}

/* option->value: bool *, set for JSON. */
static bool parse_format(const struct option *option, const char *text)
{
	struct top_arguments *arguments = option->value;
	bool json = !strcmp(text, "json");
	if (!json && strcmp(text, "text") != 0)
		return option_reject(option, text, "text or json");
	arguments->json = json;
	arguments->stdio = true;
	return true;
}

static void add_targets(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Target (default: all processes, or those of the user):"),
		OPTION_NUMBERS('p', "pid", "PID,...", &arguments->pids,
			       "watch running processes, all their threads"),
		OPTION_FLAG(0, "descendants", &options->target.descendants,
			    "with -p: watch their running descendants, too", .rare = true),
		OPTION_NUMBERS('t', "tid", "TID,...", &arguments->tids, "watch running threads",
			       .rare = true),
		OPTION_FLAG('a', "all-cpus", &options->target.system_wide,
			    "watch all CPUs and processes"),
		OPTION_STRING('C', "cpu", "LIST", &options->target.cpus,
			      "watch these CPUs only, such as 0-3,5"),
		OPTION_CALL('u', "uid", "USER", options, record_parse_user,
			    "watch the running processes of USER (name or uid)"),
		OPTION_CALL('G', "cgroup", "NAME,...", options, record_parse_cgroups,
			    "watch control groups: one, or one per event of -e"),
		OPTION_CALL(0, "unit", "NAME", options, record_parse_unit,
			    "watch the control group of a systemd unit"),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_sampling(struct option_table *table, struct record_arguments *arguments)
{
	struct record_options *options = &arguments->options;
	const struct option group[] = {
		OPTION_GROUP("Sampling:"),
		OPTION_CALL('e', "event", "EVENT,...", &arguments->events, event_lists_parse,
			    "sample these events (default: cycles or cpu-clock)"),
		OPTION_CALL('F', "freq", "HZ|max", &options->sampling.freq_hz,
			    record_parse_frequency,
			    "sample HZ times per second and CPU (default: 997, and for all "
			    "processes 5000 of all CPUs together)"),
		OPTION_CALL('c', "count", "N", &options->sampling.period, record_parse_count,
			    "sample every N events, instead of -F", .rare = true),
		OPTION_CALL_ATTACHED(0, "off-cpu", "MS", &options->sampling, record_parse_off_cpu,
				     "watch where threads wait, too"),
		OPTION_CALL(0, "call-graph", "HOW", options, record_parse_call_graph,
			    "unwind by fp, dwarf[,SIZE], fp,defer or lbr; none: no call chains"),
		OPTION_FLAG(0, "all-user", &options->sampling.user_only, "sample user space only",
			    .rare = true),
		OPTION_FLAG(0, "all-kernel", &options->sampling.kernel_only,
			    "sample the kernel only", .rare = true),
		OPTION_CALL('m', "mmap-pages", "SIZE", options, record_parse_ring_size,
			    "set each CPU's buffer size: pages, or such as 4M", .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

static void add_view(struct option_table *table, struct top_arguments *arguments)
{
	const struct option group[] = {
		OPTION_GROUP("View:"),
		OPTION_STRING('s', "sort", "KEYS", &arguments->sort,
			      "group samples by comm, pid, tid, cpu, dso, symbol, function, ..."),
		OPTION_CHOICE(0, "children", &arguments->children,
			      "order by total, which includes callees; --no-children: no totals"),
		OPTION_CALL('d', "delay", "SECONDS", &arguments->delay_ns, parse_delay,
			    "refresh after SECONDS (default: 2, or up to 10 if that takes long)"),
		OPTION_CALL(0, "window", "SECONDS", &arguments->window_ns, parse_window,
			    "show the last SECONDS, and up to a third more (default: 10)"),
		OPTION_NUMBER(0, "limit", "N", &arguments->most,
			      "text and JSON: show the N hottest rows (default: 20; 0: all)"),
		OPTION_FLAG(0, "stdio", &arguments->stdio,
			    "print text at each refresh (default without a terminal)"),
		OPTION_CALL(0, "format", "FORMAT", arguments, parse_format,
			    "print text, or json: one object a line and refresh"),
		OPTION_GROUP("End:"),
		OPTION_STRING('o', "output", "FILE", &arguments->file,
			      "save the last window as a recording at the end"),
		OPTION_CALL(0, "duration", "SECONDS", &arguments->record.duration_ns,
			    record_parse_duration, "stop after SECONDS, and terminate COMMAND"),
		OPTION_NUMBER(0, "refreshes", "N", &arguments->refreshes,
			      "stop after N refreshes"),
	};
	OPTION_TABLE_ADD(table, group);
}

static const struct option_refusal refusals[] = {
	{'z', "zero", "a window is shown: older samples have no influence"},
	{'E', "entries", "use --limit N"},
	{'g', NULL, "call chains are always recorded; --children orders by total"},
	{'K', "hide_kernel_symbols", "use --all-user"},
	{'U', "hide_user_symbols", "use --all-kernel"},
	{'r', "realtime", "record with sprof record -r"},
	{0, NULL, NULL},
};

static int parse_table(struct top_arguments *arguments, int argc, char **argv, int *operands)
{
	struct option_table table = {0};
	add_targets(&table, &arguments->record);
	add_sampling(&table, &arguments->record);
	add_view(&table, arguments);
	const struct option_usage usage = {
		.synopses = (const char *const[]){"sprof top [OPTION]... [[--] COMMAND [ARG]...]",
						  NULL},
		.about = "Shows the hot functions of the last seconds, again and again.\n"
			 "On a terminal, the key ? lists the keys, and rows keep their place\n"
			 "while their intervals overlap.",
		.example = "sprof top -p \"$(pidof nginx)\"",
		.options = table.items,
		.refusals = refusals,
		.stop_at_operand = true,
	};
	return options_parse(&usage, argc, argv, operands);
}

/* Returns whether the target is all processes of a machine, CPU, user or control group. */
static bool is_wide(const struct sp_capture_target *target)
{
	return target->system_wide || target->cpus || target->by_user || target->cgroups ||
	       target->unit;
}

/* Chooses the target and the frequency if they are not given. */
static void set_defaults(struct top_arguments *arguments)
{
	struct record_options *options = &arguments->record.options;
	struct sp_capture_target *target = &options->target;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool tasks = target->pids.count || target->tids.count || target->command;
	if (!tasks && !is_wide(target)) {
		arguments->all_or_own = true;
		target->system_wide = true;
	}
	target->exclude_self = true;
	if (!options->sampling.freq_hz && !options->sampling.period && is_wide(target) &&
	    cpus * DEFAULT_HZ > WIDE_HZ)
		options->sampling.freq_hz = (uint64_t)(WIDE_HZ / cpus) | 1;
}

/* Parses the options of the report, which has its own defaults and checks. */
static int parse_report(struct top_arguments *arguments)
{
	static char browse[] = "browse", report[] = "report", sort[] = "-s",
		    children[] = "--children", no_children[] = "--no-children";
	char **words = arguments->report_words;
	int count = 0;
	words[count++] = arguments->stdio ? report : browse;
	if (arguments->sort) {
		words[count++] = sort;
		words[count++] = (char *)(uintptr_t)arguments->sort;
	}
	if (arguments->children >= 0)
		words[count++] = arguments->children ? children : no_children;
	int status = report_arguments_parse(&arguments->report, count, words);
	/* Files are read by the main thread alone: samples are few. */
	arguments->report.selection.jobs = 1;
	arguments->report.interval = SHOWN_WITHIN;
	arguments->report.live = true;
	arguments->report.most = arguments->stdio ? arguments->most : 0;
	if (!arguments->most)
		arguments->report.limit = 0; /* removes the limits of text, too */
	if (arguments->json)
		arguments->report.output = &output_json;
	return status;
}

int top_arguments_parse(struct top_arguments *arguments, int argc, char **argv)
{
	int operands = argc;
	*arguments = (struct top_arguments){
		.record.command_name = "top",
		.record.switches = -1,
		.record.command_lines = -1,
		.window_ns = WINDOW_NS,
		.most = ROWS,
		.children = -1,
	};
	int status = parse_table(arguments, argc, argv, &operands);
	if (status < 0) {
		record_arguments_use_lists(&arguments->record);
		if (operands < argc)
			arguments->record.options.target.command =
				(const char *const *)&argv[operands];
		set_defaults(arguments);
		if (!record_arguments_check(&arguments->record))
			status = EXIT_USAGE;
	}
	bool keys = isatty(STDIN_FILENO) || !access("/dev/tty", R_OK);
	const char *name = getenv("TERM");
	bool terminal = keys && isatty(STDOUT_FILENO) && name && strcmp(name, "dumb") != 0;
#ifndef HAVE_NCURSES
	terminal = false;
#endif
	arguments->stdio |= !terminal;
	return status < 0 ? parse_report(arguments) : status;
}

void top_arguments_deinit(struct top_arguments *arguments)
{
	record_arguments_deinit(&arguments->record);
	report_arguments_deinit(&arguments->report);
}
