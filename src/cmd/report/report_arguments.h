/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of sprof report. */
#ifndef CMD_REPORT_REPORT_ARGUMENTS_H
#define CMD_REPORT_REPORT_ARGUMENTS_H

#include "cmd/common/recordings.h"
#include "options.h"
#include "out/output.h"
#include "term.h"

/* More than 30 members, because most options have one. */
struct report_arguments {
	struct selection selection;
	const struct output_format *output;
	const char *file; /* --output; NULL: standard output */
	enum sp_key keys[SP_KEY_LIMIT];
	size_t key_count;
	unsigned int columns[REPORT_COLUMN_END]; /* columns of --fields: values of enum sp_key or enum
						  * report_column */
	size_t column_count; /* 0: --fields was not given */
	bool header, header_only;
	bool keys_given; /* --sort or --fields was given */
	bool by_thread; /* --threads; when resolved: threads of one name are one row */
	bool more_keys; /* --sort began with +: keys are added to the default keys */
	/*
	 * Words of the command line that may be names of tracepoint fields. Key SP_KEY_FIELD + i stands
	 * for words[i] at first, and for fields[i] after report_fields_resolve().
	 */
	char *words[SP_FIELDS_MAX];
	size_t word_count;
	struct sp_field fields[SP_FIELDS_MAX];
	char *field_own_names[SP_FIELDS_MAX]; /* names in `fields`, owned here */
	char *field_names[SP_FIELDS_MAX];     /* fields' names as rows show them, owned here */
	size_t field_count;
	bool raw_trace;
	const char *parent; /* --parent; NULL: not given */
	bool exclude_other; /* leave out samples without a parent (--exclude-other) */
	const char *callers, *callees; /* function of --callers, --callees; NULL: not given */
	int interpreter_frames; /* --interpreter-frames; -1: not given */
	int children; /* --children; -1: not given */
	int branches; /* rows count branches; -1: not given: report_arguments_resolve() then sets 0 or 1 */
	bool memory;
	int mode; /* enum sp_mode; -1: not given: report_mode_resolve() then sets it */
	bool all_threads, kernel_waits, my_code;
	int group; /* --group; -1: not given */
	bool per_pmu; /* --per-pmu: events of hybrid CPUs stay apart */
	uint64_t time_quantum_ns;
	enum sp_tree_order tree;
	bool tree_ordered; /* --call-graph was given with "caller" */
	enum shown_interval interval;
	double limit; /* least share shown; -1: not given */
	uint64_t most; /* --limit: most rows of an event, and nodes of a tree; 0: not given */
	uint64_t max_stack; /* limit on the frames of a stack; 0: none */
	bool tree_lines, collapse_recursion;
	bool tree_comms; /* the tree begins with commands, although the format needs none */
	bool processes, command_lines; /* the tree begins with processes, and their command lines */
	bool process_tree;             /* it has no functions, but processes below their parents */
	bool relative, samples;
	bool source;                          /* --source: show source lines */
	struct option_strings source_directories; /* its argument; empty: the current directory */
	bool explain; /* --explain: a whole answer of a few lines */
	bool open; /* show the file in a browser */
	bool live; /* the recording goes on: rows are by self in all formats */
	bool tui;  /* browse the report in the terminal */
	bool timeline; /* make timelines, although the format needs none */
	char *const *option_words; /* words of the command line before the operands; borrowed */
	size_t option_word_count;
	enum sp_choice command_line; /* SP_OFF: leave out the recorded command */
	enum term_colour colour;
};

/*
 * Parses the command line. Returns -1 to continue, or the exit status. Call report_arguments_deinit()
 * in either case.
 */
int report_arguments_parse(struct report_arguments *arguments, int argc, char **argv);

/*
 * Returns whether an option selects samples by the functions in their stacks: --focus, --ignore,
 * --callers, --callees.
 */
bool report_names_stacks(const struct report_arguments *arguments);

/* Returns whether stacks lack the frames of Python's interpreter. */
static inline bool report_folds_python(const struct report_arguments *arguments)
{
	return arguments->interpreter_frames < 0 ? arguments->output->folds_python :
						   !arguments->interpreter_frames;
}

/* Parsers of --sort and --fields. */
bool report_keys_parse(const struct option *option, const char *text);
bool report_fields_parse(const struct option *option, const char *text);

/* Parsers of --mode, --latency, --wakers and --threads. */
bool report_mode_parse(const struct option *option, const char *text);
bool report_latency_parse(const struct option *option, const char *text);
bool report_wakers_parse(const struct option *option, const char *text);
bool report_threads_parse(const struct option *option, const char *text);

/*
 * Sets the mode if it was not given: wall, if the recordings have waits, else CPU. Returns false after
 * printing which options conflict.
 */
bool report_mode_resolve(struct report_arguments *arguments, const struct recordings *recordings);

/* Adds a key to rows, unless it is already there. */
void report_key_add(struct report_arguments *arguments, enum sp_key key);

/*
 * Returns the reason why sprof does not support a key of perf; NULL if `word` is no such key. It may
 * then be a field.
 */
const char *report_key_refusal(const char *word);

/* Prints that `word` is no key, and lists the keys. Returns the exit status. */
int report_key_reject(const char *title, const char *word);

/*
 * Saves a word that is no key, because it may be a tracepoint field. *key_ret is the key that stands
 * for it. Returns false after printing an error.
 */
bool report_fields_add_word(struct report_arguments *arguments, const char *title, const char *word,
			    unsigned int *key_ret);

/*
 * Replaces the saved words by tracepoint fields of the first recording. Returns -1, or the exit status
 * after printing an error.
 */
int report_fields_resolve(struct report_arguments *arguments, struct sp_ctx *ctx,
			  const struct sp_reader *reader);
void report_fields_deinit(struct report_arguments *arguments);

/*
 * Resolves options that depend on the recordings: whether branches are counted, and the keys. Returns
 * -1 to continue, or the exit status after printing the error.
 */
int report_arguments_resolve(struct report_arguments *arguments, struct sp_ctx *ctx,
			     const struct recordings *recordings);

/* If no sample is shown, prints why the functions that options name have none. */
void report_unmatched_names(const struct report_arguments *arguments, struct sp_ctx *ctx,
			  const struct recordings *recordings,
			  const struct sp_analysis *analysis);

/* Returns false after printing why an option's data, memory or intervals, are not there. */
bool report_check_result(const struct report_arguments *arguments,
			 const struct recordings *recordings, const struct sp_analysis *analysis);

void report_arguments_deinit(struct report_arguments *arguments);

#endif
