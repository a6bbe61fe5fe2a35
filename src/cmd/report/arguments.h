/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of sprof report. */
#ifndef CMD_REPORT_ARGUMENTS_H
#define CMD_REPORT_ARGUMENTS_H

#include "cmd/common/recordings.h"
#include "options.h"
#include "out/output.h"
#include "term.h"

/* More than 30 members, because most options have one. */
struct report_arguments {
	struct selection selection;
	const struct output *output;
	enum sp_key keys[SP_KEY_COUNT];
	size_t key_count;
	unsigned int columns[REPORT_COLUMN_END]; /* --fields: keys or enum report_column */
	size_t column_count; /* 0: not said */
	bool header, header_only;
	bool keys_given; /* by --sort or --fields */
	bool more_keys; /* they come behind the default's */
	/* Keys that may be fields: SP_KEY_FIELD + i is words[i], then, settled, fields[i]. */
	char *words[SP_FIELDS_MAX];
	size_t word_count;
	struct sp_field fields[SP_FIELDS_MAX];
	char *field_own_names[SP_FIELDS_MAX]; /* the fields' */
	char *field_names[SP_FIELDS_MAX];     /* named as in the rows */
	size_t field_count;
	bool raw_trace;
	const char *parent; /* NULL: not said */
	bool exclude_other; /* leave out samples without a parent */
	const char *callers, *callees; /* function of --callers, --callees; NULL: not given */
	int children; /* -1: not said */
	int branches; /* -1: not said; settled to 0 or 1 */
	bool memory;
	int group; /* -1: not said */
	uint64_t time_quantum_ns;
	enum sp_tree_order tree;
	bool tree_ordered; /* --call-graph names the order */
	double limit; /* a share; -1: not said */
	uint64_t max_stack; /* 0: all */
	bool tree_lines, collapse_recursion;
	bool relative, samples;
	enum term_colour colour;
};

/*
 * Returns -1 to go on, or the exit status to end with. To be released by
 * report_arguments_deinit() in either case.
 */
int report_arguments_parse(struct report_arguments *arguments, int argc, char **argv);

/* Whether an option names functions of stacks: --focus, --ignore, --callers, --callees. */
bool report_names_stacks(const struct report_arguments *arguments);

/* Parsers of --sort and --fields. */
bool report_keys_parse(const struct option *option, const char *text);
bool report_fields_parse(const struct option *option, const char *text);

/* Adds a key, unless it is there. */
void report_key_add(struct report_arguments *arguments, enum sp_key key);

/* Reason why a key of perf is not a key here; NULL if there is none: it may be a field. */
const char *report_key_refusal(const char *word);

/* Prints that `word` is no key, with a list of the keys. Returns the exit status. */
int report_key_reject(const char *title, const char *word);

/* A key that is not known may be a field: keeps its name. False after having said why not. */
bool report_fields_want(struct report_arguments *arguments, const char *title, const char *word,
			unsigned int *key_ret);

/* Finds them in the first recording; -1, or, having said what is wrong, the exit status. */
int report_fields_settle(struct report_arguments *arguments, struct sp_ctx *ctx,
			 const struct sp_reader *reader);
void report_fields_deinit(struct report_arguments *arguments);

/*
 * Resolves options that depend on the recordings: counting of branches, and the keys. Returns -1 to
 * go on, or the exit status after printing the error.
 */
int report_arguments_settle(struct report_arguments *arguments, struct sp_ctx *ctx,
			    const struct recordings *recordings);

/* Reports why functions that options name have no samples, where no sample is shown. */
void report_missing_names(const struct report_arguments *arguments, struct sp_ctx *ctx,
			  const struct recordings *recordings,
			  const struct sp_analysis *analysis);

void report_arguments_deinit(struct report_arguments *arguments);

#endif
