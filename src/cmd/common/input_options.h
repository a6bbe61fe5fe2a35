/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that report and script share: the recording, its shown samples, and how to read it. */
#ifndef CMD_COMMON_INPUT_OPTIONS_H
#define CMD_COMMON_INPUT_OPTIONS_H

#include <sprof/sprof.h>
#include "options.h"

/* More parts of the time than these are a slip of the pen, not a wish. */
#define SELECTION_TIMES 64

/* A part of --time: the recording's clock, offsets from the first sample, or fractions of the span. */
struct selection_time {
	bool percent;
	bool begin_offset, end_offset; /* "+": ns after the first sample */
	bool has_end;
	uint64_t begin_ns, end_ns; /* inclusive */
	double begin, end;         /* 0 to 1 */
};

/* Strings are borrowed from argv; NULL: not said. */
struct selection {
	const char *input;            /* -i */
	const char *const *operands; /* files named without -i */
	size_t operand_count;
	const char *symfs, *vmlinux, *kallsyms, *unwinder;
	bool debuginfod, force;
	struct option_strings comms, dsos, symbols, events, focus, ignore;
	struct option_numbers pids, tids, cpus;
	struct selection_time parts[SELECTION_TIMES]; /* in the order given */
	size_t time_count;
	int inlines, pager; /* -1: not said */
	bool whole_paths, quiet, verbose;
	uint64_t jobs;
};

void selection_init(struct selection *selection);
void selection_deinit(struct selection *selection);

/* Groups of the help. */
void selection_add_read(struct selection *selection, struct option_table *table);
void selection_add_filter(struct selection *selection, struct option_table *table);
/* Filters by all functions of a stack. */
void selection_add_stack_filter(struct selection *selection, struct option_table *table);
void selection_add_how(struct selection *selection, struct option_table *table);

/* Whether the text is an extended regular expression; false after saying that it is not. */
bool selection_check_regex(const struct option *option, const char *text);

/* Sets what options say of the context. */
void selection_apply(const struct selection *selection, struct sp_ctx *ctx);

/*
 * Returns the filter for the library, with the times of `recording` if it is not NULL; valid as long
 * as both.
 */
struct sp_filter selection_filter(const struct selection *selection,
				  const struct sp_recording *recording);
struct sp_files selection_files(const struct selection *selection);

/* Whether some samples may be left out. */
bool selection_is_filtered(const struct selection *selection);

#endif
