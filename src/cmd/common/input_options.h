/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that report and script share: which recordings to read, which samples to show, and how. */
#ifndef CMD_COMMON_INPUT_OPTIONS_H
#define CMD_COMMON_INPUT_OPTIONS_H

#include <sprof/sprof.h>
#include "cmd/common/time_ranges.h"
#include "options.h"

/* Values of the options. Strings are borrowed from argv; NULL: not given. */
struct selection {
	const char *input;            /* value of -i */
	const char *const *operands; /* files named as operands instead of by -i */
	size_t operand_count;
	const char *symfs, *vmlinux, *kallsyms, *unwinder;
	bool debuginfod, force;
	struct option_strings comms, dsos, symbols, events, focus, ignore, arguments, command_lines;
	struct option_numbers pids, tids, cpus, parallelism;
	struct time_ranges times;     /* --time */
	int inlines, pager; /* -1: not given */
	bool whole_paths, quiet, verbose;
	uint64_t jobs;
};

void input_options_init(struct selection *selection);
void input_options_deinit(struct selection *selection);

/*
 * Each function adds a group of options to the table: which recordings to read, which samples to show,
 * and how to show them.
 */
void input_options_add_read(struct selection *selection, struct option_table *table);
void input_options_add_filter(struct selection *selection, struct option_table *table);
/*
 * Adds the options that select samples by any function in their stacks (--focus, --ignore), and by the
 * number of threads that could run (--parallelism).
 */
void input_options_add_stack_filter(struct selection *selection, struct option_table *table);
void input_options_add_output(struct selection *selection, struct option_table *table);

/* Returns true if the text is an extended regular expression, else false after printing an error. */
bool input_options_check_regex(const struct option *option, const char *text);

/* Applies the options that are settings of the library's context, for example --debuginfod and -v. */
void input_options_apply(const struct selection *selection, struct sp_ctx *ctx);

/*
 * Returns the filter for the library. Includes --time as computed for `recording`, unless that is NULL.
 * Valid as long as both arguments.
 */
struct sp_filter input_options_filter(const struct selection *selection,
				      const struct sp_recording *recording);
struct sp_files input_options_files(const struct selection *selection);

/* Returns whether the event has one of the names of -e; without -e, all events do. */
bool input_options_has_event(const struct selection *selection, const char *event);

/* Returns whether any option filters samples. */
bool input_options_is_filtered(const struct selection *selection);

#endif
