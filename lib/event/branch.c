/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/branch.h"

#include <linux/perf_event.h>
#include <string.h>

/* PERF_SAMPLE_BRANCH_COUNTERS, Linux 6.8. */
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

static const struct {
	const char *name;
	uint64_t bit;
} types[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
	{"counter", BRANCH_COUNTERS},
};

static uint64_t find(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (strlen(types[i].name) == size && memcmp(types[i].name, name, size) == 0)
			return types[i].bit;
	return 0;
}

bool branch_types_parse(const char *text, size_t size, char separator, uint64_t *ret)
{
	const uint64_t modes = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
			       PERF_SAMPLE_BRANCH_HV;
	const char *end = text + size;
	uint64_t mask = 0;
	for (;;) {
		const char *next = memchr(text, separator, (size_t)(end - text));
		uint64_t bit = find(text, (size_t)((next ? next : end) - text));
		if (!bit)
			return false;
		mask |= bit;
		if (!next)
			break;
		text = next + 1;
	}
	/* Modes alone mean branches of any type, as in perf. */
	if (!(mask & ~modes))
		mask |= PERF_SAMPLE_BRANCH_ANY;
	*ret = mask;
	return true;
}
