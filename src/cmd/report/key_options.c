/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the options about keys and columns, and chooses the defaults when the recordings are known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "cmd/report/report_arguments.h"
#include "command.h"
#include "diag.h"
#include "memory.h"

/*
 * Parses a word that is a key or may be a tracepoint field. Returns false after printing why it is
 * neither.
 */
static bool parse_key(struct report_arguments *arguments, const char *title, const char *word,
		      unsigned int *ret)
{
	enum sp_key key;
	const char *why = report_key_refusal(word);
	if (sp_key_parse(word, &key)) {
		*ret = key;
		return true;
	}
	if (why)
		diag_print("%s: %s %s", title, word, why);
	else if (!*word)
		(void)report_key_reject(title, word);
	return !why && *word && report_fields_add_word(arguments, title, word, ret);
}

/* Accepts a column among the words of --sort, as in perf. Returns whether it is one. */
static bool accept_column(struct report_arguments *arguments, const char *word)
{
	if (!strcmp(word, "overhead_children"))
		arguments->children = 1;
	else if (!strcmp(word, "sample"))
		arguments->samples = true;
	else
		return !strcmp(word, "overhead");
	return true;
}

/* Parses --sort: "comm,symbol"; "+cpu" adds to the default keys, which depend on other options. */
bool report_keys_parse(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	char *copy = xstrdup(text), *rest = copy, *word;
	bool fine = true;
	unsigned int key;
	arguments->key_count = 0;
	arguments->keys_given = true;
	arguments->by_thread = false;
	arguments->more_keys = *rest == '+';
	rest += arguments->more_keys;
	while (fine && (word = strsep(&rest, ","))) {
		if (accept_column(arguments, word))
			continue;
		fine = parse_key(arguments, "--sort", word, &key);
		if (fine)
			report_key_add(arguments, (enum sp_key)key);
	}
	free(copy);
	return fine;
}

/* Columns of --fields other than keys, with perf's names. */
static const struct {
	const char *name;
	unsigned int column;
} fields[] = {
	{"overhead", REPORT_COLUMN_SELF},
	{"overhead_children", REPORT_COLUMN_TOTAL},
	{"interval", REPORT_COLUMN_SELF_RANGE}, /* not in perf: confidence interval of the share in the
						 * column before */
	{"sample", REPORT_COLUMN_SAMPLES},
	{"period", REPORT_COLUMN_PERIOD},
	{"on_ms", REPORT_COLUMN_ON}, /* not in perf, as those that follow: time by state */
	{"runnable_ms", REPORT_COLUMN_RUNNABLE},
	{"blocked_ms", REPORT_COLUMN_BLOCKED},
	{"waits", REPORT_COLUMN_WAITS},
	{"longest_ms", REPORT_COLUMN_LONGEST},
};

static bool parse_field(struct report_arguments *arguments, const char *word)
{
	size_t last = arguments->column_count;
	unsigned int column = REPORT_COLUMN_END;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(word, fields[i].name))
			column = fields[i].column;
	if (column == REPORT_COLUMN_END &&
	    !parse_key(arguments, "-F, --fields", word, &column))
		return false;
	if (column == REPORT_COLUMN_SELF_RANGE && last &&
	    arguments->columns[last - 1] == REPORT_COLUMN_TOTAL)
		column = REPORT_COLUMN_TOTAL_RANGE;
	if (column == REPORT_COLUMN_TOTAL && arguments->children < 0)
		arguments->children = 1;
	for (size_t i = 0; i < last; i++)
		if (arguments->columns[i] == column)
			return true;
	arguments->columns[arguments->column_count++] = column;
	return true;
}

/* Parses --fields: "overhead,sample,sym"; keys among the columns also define the rows. */
bool report_fields_parse(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	char *copy = xstrdup(text), *rest = copy, *word;
	bool fine = true;
	arguments->column_count = 0;
	arguments->keys_given = true;
	while (fine && (word = strsep(&rest, ",")))
		fine = parse_field(arguments, word);
	free(copy);
	return fine;
}

static void add_keys(struct report_arguments *arguments, const enum sp_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		report_key_add(arguments, keys[i]);
}

/* Adds the default keys: symbols in place of functions if inlined functions are off. */
static void add_default_keys(struct report_arguments *arguments)
{
	const enum sp_key usual[] = {arguments->selection.inlines ? SP_KEY_FUNCTION : SP_KEY_SYMBOL,
				     SP_KEY_COMM, SP_KEY_DSO};
	static const enum sp_key branches[] = {SP_KEY_SYMBOL_FROM, SP_KEY_SYMBOL_TO, SP_KEY_COMM,
					       SP_KEY_DSO_FROM};
	/* perf's default keys of memory samples. */
	static const enum sp_key memory[] = {
		SP_KEY_LOCAL_WEIGHT, SP_KEY_MEM, SP_KEY_SYMBOL, SP_KEY_DSO, SP_KEY_SYMBOL_DADDR,
		SP_KEY_DSO_DADDR, SP_KEY_SNOOP, SP_KEY_TLB, SP_KEY_LOCKED, SP_KEY_BLOCKED,
		SP_KEY_LOCAL_INS_LAT, SP_KEY_LOCAL_P_STAGE_CYC,
	};
	static const enum sp_key wakers[] = {SP_KEY_WAKER, SP_KEY_WAKEE};
	enum sp_key keys[SP_KEY_LIMIT];
	size_t count = arguments->key_count;
	/* In text, if the only key is the source line, the function is added. */
	if (count == 1 && *arguments->keys == SP_KEY_SRCLINE && arguments->output == &output_text &&
	    !arguments->column_count)
		report_key_add(arguments, arguments->selection.inlines ? SP_KEY_FUNCTION
								       : SP_KEY_SYMBOL);
	if (count && !arguments->more_keys)
		return;
	memcpy(keys, arguments->keys, sizeof(keys));
	arguments->key_count = 0;
	if (arguments->branches)
		add_keys(arguments, branches, sizeof(branches) / sizeof(*branches));
	else if (arguments->memory)
		add_keys(arguments, memory, sizeof(memory) / sizeof(*memory));
	else if (arguments->mode == SP_MODE_WAKERS)
		add_keys(arguments, wakers, sizeof(wakers) / sizeof(*wakers));
	else
		add_keys(arguments, usual, sizeof(usual) / sizeof(*usual));
	add_keys(arguments, keys, count);
}

/*
 * Returns whether samples have branch stacks other than the CPU's call stacks (--call-graph lbr). As in
 * perf, false if samples have stack copies.
 */
static bool has_branches(const struct recordings *recordings)
{
	bool any = false;
	for (size_t i = 0; i < recordings->count; i++) {
		const struct sp_reader *reader = recordings->items[i].reader;
		for (size_t j = 0; j < sp_reader_event_count(reader); j++) {
			const struct perf_event_attr *attr = &sp_reader_event(reader, j)->attr;
			if (attr->sample_type & PERF_SAMPLE_STACK_USER)
				return false;
			any |= attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
			       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
		}
	}
	return any;
}

static bool has_branch_stacks(const struct sp_reader *reader)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (sp_reader_event(reader, i)->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

/* Returns the path of the first recording without branch stacks; NULL: all have them. */
static const char *path_without_branches(const struct recordings *recordings)
{
	for (size_t i = 0; i < recordings->count; i++)
		if (!has_branch_stacks(recordings->items[i].reader))
			return sp_reader_info(recordings->items[i].reader)->path;
	return NULL;
}

static const char *first_branch_key(const struct report_arguments *arguments)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (sp_key_is_of_branches(arguments->keys[i]))
			return sp_key_name(arguments->keys[i]);
	return NULL;
}

bool report_names_stacks(const struct report_arguments *arguments)
{
	return arguments->selection.focus.count || arguments->selection.ignore.count ||
	       arguments->callers || arguments->callees;
}

/* Returns whether an option needs call chains, for example a call tree or folded stacks. */
static bool wants_calls(const struct report_arguments *arguments)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (arguments->keys[i] == SP_KEY_PARENT)
			return true;
	return arguments->tree != SP_TREE_NONE || arguments->output->stacks ||
	       arguments->children == 1 || arguments->parent || report_names_stacks(arguments);
}

/*
 * Decides whether rows count branches instead of samples. Returns false after printing which options
 * conflict.
 */
static bool resolve_branches(struct report_arguments *arguments,
			    const struct recordings *recordings)
{
	const char *key = first_branch_key(arguments), *path = path_without_branches(recordings);
	if (key && arguments->branches == 0) {
		diag_print(
			"--no-branch-stack counts samples, which have no %s; omit it, or use other "
			"keys",
			key);
		return false;
	}
	if ((key || arguments->branches == 1) && path) {
		diag_print("%s has no branch stacks; use 'sprof record -b' if the processor "
			   "supports it",
			   path);
		return false;
	}
	if (arguments->branches == 1 && wants_calls(arguments)) {
		diag_print("branches (-b) have no call chains to show");
		return false;
	}
	if (arguments->memory && (key || arguments->branches == 1)) {
		diag_print("--mem-mode and branches do not go together");
		return false;
	}
	if (arguments->memory)
		arguments->branches = 0;
	if (arguments->branches < 0)
		arguments->branches = key || (has_branches(recordings) && !wants_calls(arguments));
	return true;
}

int report_arguments_resolve(struct report_arguments *arguments, struct sp_ctx *ctx,
			     const struct recordings *recordings)
{
	int status = report_fields_resolve(arguments, ctx, recordings->items[0].reader);
	if (status >= 0)
		return status;
	for (size_t i = 0; i < arguments->column_count; i++)
		if (arguments->columns[i] < SP_KEY_LIMIT)
			report_key_add(arguments, (enum sp_key)arguments->columns[i]);
	if (!report_mode_resolve(arguments, recordings) || !resolve_branches(arguments, recordings))
		return 1;
	add_default_keys(arguments);
	/* A server's threads would fill the screen. */
	arguments->by_thread &= arguments->output == &output_text && !arguments->tui &&
				!arguments->column_count && arguments->limit < 0 &&
				!arguments->most &&
				term_of_output(arguments->file, arguments->colour).terminal;
	for (size_t i = 0; i < arguments->key_count && arguments->by_thread; i++)
		if (arguments->keys[i] == SP_KEY_TID)
			arguments->keys[i] = SP_KEY_PID;
	if (arguments->parent)
		report_key_add(arguments, SP_KEY_PARENT);
	return -1;
}

bool report_threads_parse(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	(void)text;
	arguments->mode = SP_MODE_WALL;
	if (!report_keys_parse(option, "comm,tid,state"))
		return false;
	arguments->by_thread = true;
	return true;
}
