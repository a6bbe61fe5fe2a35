/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sprof report makes rows by, and what it counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/report_arguments.h"
#include "diag.h"

static void add_key(struct report_arguments *arguments, enum sp_key key)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (arguments->keys[i] == key)
			return;
	arguments->keys[arguments->key_count++] = key;
}

/* Says which keys there are. */
static void reject_key(const char *word)
{
	char list[1024] = "";
	for (enum sp_key key = 0; key < SP_KEY_COUNT; key++) {
		size_t size = strlen(list);
		snprintf(list + size, sizeof(list) - size, "%s%s", key ? ", " : "",
			 sp_key_name(key));
	}
	diag_say("--sort: '%s' is not one of %s", word, list);
}

/* "comm,symbol"; "+cpu" adds to the default, which other options have a say in. */
bool report_keys_parse(const struct option *option, const char *text)
{
	struct report_arguments *arguments = option->value;
	char *copy = strdup(text), *rest = copy, *word;
	bool fine = copy;
	enum sp_key key;
	arguments->key_count = 0;
	arguments->more_keys = fine && *rest == '+';
	rest += arguments->more_keys;
	while (fine && (word = strsep(&rest, ","))) {
		fine = sp_key_parse(word, &key);
		if (fine)
			add_key(arguments, key);
		else
			reject_key(word);
	}
	free(copy);
	return fine;
}

static void add_keys(struct report_arguments *arguments, const enum sp_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_key(arguments, keys[i]);
}

/* Where inlined functions are none, functions are symbols, and said to be. */
static void add_default_keys(struct report_arguments *arguments)
{
	const enum sp_key usual[] = {SP_KEY_COMM, SP_KEY_DSO,
				     arguments->selection.inlines ? SP_KEY_FUNCTION : SP_KEY_SYMBOL};
	static const enum sp_key branches[] = {SP_KEY_COMM, SP_KEY_DSO_FROM, SP_KEY_SYMBOL_FROM,
					       SP_KEY_SYMBOL_TO};
	/* perf's own. */
	static const enum sp_key memory[] = {
		SP_KEY_LOCAL_WEIGHT, SP_KEY_MEM, SP_KEY_SYMBOL, SP_KEY_DSO, SP_KEY_SYMBOL_DADDR,
		SP_KEY_DSO_DADDR, SP_KEY_SNOOP, SP_KEY_TLB, SP_KEY_LOCKED, SP_KEY_BLOCKED,
		SP_KEY_LOCAL_INS_LAT, SP_KEY_LOCAL_P_STAGE_CYC,
	};
	enum sp_key keys[SP_KEY_COUNT];
	size_t count = arguments->key_count;
	if (count && !arguments->more_keys)
		return;
	memcpy(keys, arguments->keys, sizeof(keys));
	arguments->key_count = 0;
	if (arguments->branches)
		add_keys(arguments, branches, sizeof(branches) / sizeof(*branches));
	else if (arguments->memory)
		add_keys(arguments, memory, sizeof(memory) / sizeof(*memory));
	else
		add_keys(arguments, usual, sizeof(usual) / sizeof(*usual));
	add_keys(arguments, keys, count);
}

/*
 * Branches, not stacks of calls that the processor keeps as branches (--call-graph lbr): as
 * perf has it, not where stacks were copied besides.
 */
static bool has_branches(const struct sp_reader *reader)
{
	bool any = false;
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct perf_event_attr *attr = &sp_reader_event(reader, i)->attr;
		if (attr->sample_type & PERF_SAMPLE_STACK_USER)
			return false;
		any |= attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
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

static const char *first_branch_key(const struct report_arguments *arguments)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (sp_key_is_of_branches(arguments->keys[i]))
			return sp_key_name(arguments->keys[i]);
	return NULL;
}

/* Whoever asks for calls has them, if there are any. */
static bool wants_calls(const struct report_arguments *arguments)
{
	return arguments->tree != SP_TREE_NONE || arguments->output == &output_folded ||
	       arguments->children == 1;
}

bool report_arguments_settle(struct report_arguments *arguments, const struct sp_reader *reader)
{
	const char *key = first_branch_key(arguments), *path = sp_reader_info(reader)->path;
	if (key && arguments->branches == 0) {
		diag_say("--no-branch-stack leaves nothing to make rows by %s of", key);
		return false;
	}
	if ((key || arguments->branches == 1) && !has_branch_stacks(reader)) {
		diag_say("%s has no branch stacks; 'record -b' records them, where the processor has "
			 "them", path);
		return false;
	}
	if (arguments->branches == 1 && wants_calls(arguments)) {
		diag_say("branches (-b) have no call chains to show");
		return false;
	}
	if (arguments->memory && (key || arguments->branches == 1)) {
		diag_say("--mem-mode and branches do not go together");
		return false;
	}
	if (arguments->memory)
		arguments->branches = 0;
	if (arguments->branches < 0)
		arguments->branches = key || (has_branches(reader) && !wants_calls(arguments));
	add_default_keys(arguments);
	return true;
}
