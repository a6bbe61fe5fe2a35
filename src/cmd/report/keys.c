/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses names of keys, and explains which keys of perf are not supported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/report/report_arguments.h"
#include "command.h"
#include "diag.h"
#include "nearest.h"

void report_key_add(struct report_arguments *arguments, enum sp_key key)
{
	for (size_t i = 0; i < arguments->key_count; i++)
		if (arguments->keys[i] == key)
			return;
	arguments->keys[arguments->key_count++] = key;
}

/* Words that people type, with the reason. It continues a sentence that begins with the word. */
static const struct {
	const char *name, *why;
} other_keys[] = {
	{"simd", "needs decoded traces of Arm's SPE, which sprof does not decode"},
	{"type", "needs the types of accessed data, which sprof does not find"},
	{"typeoff", "needs the types of accessed data, which sprof does not find"},
	{"typecln", "needs the types of accessed data, which sprof does not find"},
	{"latency", "is the column overhead in --mode latency"},
	{"latency_children", "is the column overhead_children in --mode latency"},
	{"ipc_lbr", "belongs to blocks between branches: use 'sprof script -F brstackinsn'"},
	{"ipc_null", "belongs to blocks between branches: use 'sprof script -F brstackinsn'"},
	{"callchain_branch_predicted", "belongs to perf's --branch-history; use mispredict"},
	{"callchain_branch_abort", "belongs to perf's --branch-history; use abort"},
	{"callchain_branch_cycles", "belongs to perf's --branch-history; use cycles"},
	{"symbol_size", "is a function's size; use nm -S"},
	{"dso_size", "is a mapping's size; use readelf -lW"},
	{"symoff", "is an offset in a function; use addr or srcline"},
	{"symbol_iaddr", "is perf's name of symbol"},
	{"comm_nodigit", "is comm without digits; use comm"},
	{"op", "is the kind of a memory access; use 'sprof script -F data_src'"},
	{"cache", "is part of mem; use mem"},
	{"memory", "is part of mem; use mem"},
	{"dtlb", "is perf's name of tlb"},
	{"weight1", "is perf's name of local_weight"},
	{"weight2", "is perf's name of local_ins_lat"},
	{"weight3", "is perf's name of local_p_stage_cyc"},
	{"program", "is no key: use comm (all processes of a program), argument or dso"},
	{"file", "is no key: use argument (files of command lines), srcfile or dso"},
	{"line", "is no key: use srcline"},
	{"thread", "is no key: use tid, or -T"},
	{"period", "is a column, not a key: use -F overhead,period and the keys"},
	{"overhead_sys", "is part of overhead; symbols show the level: [k], [.], [g] or [u]"},
	{"overhead_us", "is part of overhead; symbols show the level: [k], [.], [g] or [u]"},
	{"overhead_guest_sys", "is part of overhead; symbols show the level: [k], [.], [g] or [u]"},
	{"overhead_guest_us", "is part of overhead; symbols show the level: [k], [.], [g] or [u]"},
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
	struct nearest nearest = {.name = NULL};
	for (enum sp_key key = 0; sp_key_name(key); key++)
		nearest_add(&nearest, word, strlen(word), sp_key_name(key));
	if (nearest.name) {
		diag_print("%s: unknown key '%s'; did you mean '%s'?", title, word, nearest.name);
		return EXIT_USAGE;
	}
	for (enum sp_key key = 0; sp_key_name(key); key++) {
		size_t size = strlen(list);
		snprintf(list + size, sizeof(list) - size, "%s%s", key ? ", " : "",
			 sp_key_name(key));
	}
	diag_print("%s: '%s' is not one of %s, nor a field of the recording's tracepoints", title,
		   word, list);
	return EXIT_USAGE;
}
