/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses names of keys, and explains which keys of perf are not supported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/report/arguments.h"
#include "command.h"
#include "diag.h"

void report_key_add(struct report_arguments *arguments, enum sp_key key)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (arguments->keys[i] == key)
			return;
	arguments->keys[arguments->key_count++] = key;
}

/* perf's keys that are not supported, and why. */
static const struct {
	const char *name, *why;
} other_keys[] = {
	{"simd", "is of decoded traces of Arm's SPE, and there is no decoder"},
	{"type", "takes types of data by debug information, which are not found"},
	{"typeoff", "takes types of data by debug information, which are not found"},
	{"typecln", "takes types of data by debug information, which are not found"},
	{"parallelism", "is how many tasks ran at once, which is not computed"},
	{"latency", "weighs by how many tasks ran at once, which is not computed"},
	{"latency_children", "weighs by how many tasks ran at once, which is not computed"},
	{"ipc_lbr", "is of blocks between branches: 'sprof script -F brstackinsn' has it"},
	{"ipc_null", "is of blocks between branches: 'sprof script -F brstackinsn' has it"},
	{"callchain_branch_predicted", "is of --branch-history; see mispredict"},
	{"callchain_branch_abort", "is of --branch-history; see abort"},
	{"callchain_branch_cycles", "is of --branch-history; see cycles"},
	{"symbol_size", "says how large a function is, not where samples are; nm -S has it"},
	{"dso_size", "says how large a mapping is, not where samples are"},
	{"symoff", "is a place within a function; see addr and srcline"},
	{"symbol_iaddr", "is symbol"},
	{"comm_nodigit", "is a comm without its digits; see comm"},
	{"op", "is the kind of a memory access; 'sprof script -F data_src' has it"},
	{"cache", "is a part of mem"},
	{"memory", "is a part of mem"},
	{"dtlb", "is tlb"},
	{"weight1", "is local_weight"},
	{"weight2", "is local_ins_lat"},
	{"weight3", "is local_p_stage_cyc"},
	{"overhead", "is a column, not a key; -F orders columns"},
	{"overhead_children", "is a column, not a key; -F orders columns"},
	{"sample", "is a column, not a key; -F orders columns"},
	{"period", "is a column, not a key; -F orders columns"},
	{"overhead_sys", "is a part of overhead; levels stand before each symbol"},
	{"overhead_us", "is a part of overhead; levels stand before each symbol"},
	{"overhead_guest_sys", "is a part of overhead; levels stand before each symbol"},
	{"overhead_guest_us", "is a part of overhead; levels stand before each symbol"},
};

const char *report_key_refusal(const char *word)
{
	for (size_t i = 0; i < sizeof(other_keys) / sizeof(*other_keys); i++)
		if (!strcmp(word, other_keys[i].name))
			return other_keys[i].why;
	return NULL;
}

int report_key_reject(const char *title, const char *word)
{
	char list[1024] = "";
	for (enum sp_key key = 0; key < SP_KEY_FIELD; key++) {
		size_t size = strlen(list);
		snprintf(list + size, sizeof(list) - size, "%s%s", key ? ", " : "",
			 sp_key_name(key));
	}
	diag_say("%s: '%s' is not one of %s, nor a field of the recording's tracepoints", title,
		 word, list);
	return EXIT_USAGE;
}
