/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/input_options.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "diag.h"

void input_options_init(struct selection *selection)
{
	*selection = (struct selection){.inlines = -1, .pager = -1};
}

void input_options_deinit(struct selection *selection)
{
	option_strings_deinit(&selection->comms);
	option_strings_deinit(&selection->dsos);
	option_strings_deinit(&selection->symbols);
	option_strings_deinit(&selection->events);
	option_strings_deinit(&selection->focus);
	option_strings_deinit(&selection->ignore);
	option_strings_deinit(&selection->arguments);
	option_strings_deinit(&selection->command_lines);
	option_numbers_deinit(&selection->pids);
	option_numbers_deinit(&selection->tids);
	option_numbers_deinit(&selection->cpus);
	option_numbers_deinit(&selection->parallelism);
}

static bool parse_time(const struct option *option, const char *text)
{
	struct selection *selection = option->value;
	return time_ranges_parse(&selection->times, text) ||
	       option_reject(option, text,
			     "START,END in seconds, +START,+END, a time of day such as "
			     "12:03:07,+2s, or PERCENT%-PERCENT%");
}

void input_options_add_read(struct selection *s, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("Input:"),
		OPTION_STRING('i', "input", "FILE", &s->input,
			      "read FILE (default: sprof.data; -: stdin)"),
		OPTION_STRING(0, "symfs", "DIR", &s->symfs,
			      "look for the recorded files below DIR", .rare = true),
		OPTION_FLAG(0, "debuginfod", &s->debuginfod,
			    "download missing files from $DEBUGINFOD_URLS"),
		OPTION_STRING('k', "vmlinux", "FILE", &s->vmlinux, "use FILE as the kernel's ELF file",
			      .rare = true),
		OPTION_STRING(0, "kallsyms", "FILE", &s->kallsyms,
			      "read kernel symbols from FILE, in the format of /proc/kallsyms",
			      .rare = true),
		OPTION_STRING(0, "unwinder", "NAME", &s->unwinder,
			      "unwind stack copies by cfi (default), libunwind or none",
			      .rare = true),
		OPTION_FLAG('f', "force", &s->force, "accepted for perf compatibility; ignored",
			    .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

void input_options_add_filter(struct selection *s, struct option_table *table)
{
	const struct option group[] = {
		OPTION_GROUP("Filters:"),
		OPTION_STRINGS('c', "comms", "NAMES", &s->comms, "select commands (thread names)"),
		OPTION_STRINGS('d', "dsos", "NAMES", &s->dsos, "select programs and libraries"),
		OPTION_STRINGS('S', "symbols", "NAMES", &s->symbols,
			       "select sampled functions (whole names)"),
		OPTION_NUMBERS(0, "pid", "PIDS", &s->pids, "select processes"),
		OPTION_NUMBERS(0, "tid", "TIDS", &s->tids, "select threads", .rare = true),
		OPTION_NUMBERS('C', "cpu", "CPUS", &s->cpus, "select CPUs, such as 0,4-7",
			       .rare = true),
		OPTION_STRINGS(0, "argument", "PATTERNS", &s->arguments,
			       "select processes by files among their arguments ('*.c')",
			       .rare = true),
		OPTION_STRINGS(0, "cmdline", "PATTERNS", &s->command_lines,
			       "select processes by their command lines ('make *')", .rare = true),
		OPTION_STRINGS('e', "events", "NAMES", &s->events,
			       "select events, by name or pattern ('*cycles*')"),
		OPTION_CALL(0, "time", "START,END", s, parse_time,
			    "select a time range: +1.5,+3 (seconds from the first sample), "
			    "12:03:07,+2s (time of day), 10%-20%, or seconds of the recording's "
			    "clock"),
	};
	OPTION_TABLE_ADD(table, group);
}

bool input_options_check_regex(const struct option *option, const char *text)
{
	regex_t regex;
	if (!*text || regcomp(&regex, text, REG_EXTENDED | REG_NOSUB))
		return option_reject(option, text, "a regular expression (extended)");
	regfree(&regex);
	return true;
}

static bool parse_regex(const struct option *option, const char *text)
{
	option_strings_push(option->value, text, strlen(text));
	return input_options_check_regex(option, text);
}

void input_options_add_stack_filter(struct selection *s, struct option_table *table)
{
	const struct option group[] = {
		OPTION_CALL(0, "focus", "REGEX", &s->focus, parse_regex,
			    "select stacks with a function that matches"),
		OPTION_CALL(0, "ignore", "REGEX", &s->ignore, parse_regex,
			    "drop stacks with a function that matches"),
		OPTION_NUMBERS(0, "parallelism", "N", &s->parallelism,
			       "select samples while N threads of the process could run, such as 1-2",
			       .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

void input_options_add_output(struct selection *s, struct option_table *table)
{
	const struct option group[] = {
		OPTION_FLAG('q', "quiet", &s->quiet, "print no findings and no warnings"),
		OPTION_FLAG('v', "verbose", &s->verbose, "print each step to standard error"),
		OPTION_CHOICE(0, "pager", &s->pager,
			      "page text on a terminal by $SPROF_PAGER, $PAGER or less",
			      .rare = true),
		OPTION_NUMBER('j', "jobs", "N", &s->jobs, "use N threads (default: one per CPU)",
			      .rare = true),
	};
	OPTION_TABLE_ADD(table, group);
}

void input_options_apply(const struct selection *selection, struct sp_ctx *ctx)
{
	if (selection->verbose)
		sp_ctx_set_log(ctx, diag_log, NULL, SP_LOG_DEBUG);
	sp_ctx_set_debuginfod(ctx, selection->debuginfod);
}

struct sp_filter input_options_filter(const struct selection *selection,
				      const struct sp_recording *recording)
{
	return (struct sp_filter){
		.size = sizeof(struct sp_filter),
		.comms = option_strings_list(&selection->comms),
		.dsos = option_strings_list(&selection->dsos),
		.symbols = option_strings_list(&selection->symbols),
		.pids = option_numbers_list(&selection->pids),
		.tids = option_numbers_list(&selection->tids),
		.cpus = option_numbers_list(&selection->cpus),
		.times = recording ? recording->times : NULL,
		.time_count = recording ? recording->time_count : 0,
		.focus = option_strings_list(&selection->focus),
		.ignore = option_strings_list(&selection->ignore),
		.parallelism = option_numbers_list(&selection->parallelism),
		.arguments = option_strings_list(&selection->arguments),
		.command_lines = option_strings_list(&selection->command_lines),
	};
}

struct sp_files input_options_files(const struct selection *selection)
{
	return (struct sp_files){
		.size = sizeof(struct sp_files),
		.symfs = selection->symfs,
		.vmlinux = selection->vmlinux,
		.kallsyms = selection->kallsyms,
		.unwinder = selection->unwinder,
	};
}

bool input_options_has_event(const struct selection *selection, const char *event)
{
	return !selection->events.count || option_strings_has(&selection->events, event);
}

bool input_options_is_filtered(const struct selection *selection)
{
	return selection->comms.count || selection->dsos.count || selection->symbols.count ||
	       selection->pids.count || selection->tids.count || selection->cpus.count ||
	       selection->parallelism.count || selection->times.count || selection->focus.count ||
	       selection->ignore.count || selection->arguments.count ||
	       selection->command_lines.count;
}
