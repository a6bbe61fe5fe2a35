/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sprof/private/command.h>
#include <sprof/profile.h>

#include <string.h>
#include "profile/analysis_keys.h"

#include "base/vec.h"

static const struct {
	const char *name;
	bool number;
} keys[SP_KEY_LIMIT] = {
	[SP_KEY_COMM] = {"comm", false},
	[SP_KEY_PID] = {"pid", true},
	[SP_KEY_TID] = {"tid", true},
	[SP_KEY_CPU] = {"cpu", true},
	[SP_KEY_DSO] = {"dso", false},
	[SP_KEY_SYMBOL] = {"symbol", false},
	[SP_KEY_FUNCTION] = {"function", false},
	[SP_KEY_SRCFILE] = {"srcfile", false},
	[SP_KEY_SRCLINE] = {"srcline", false},
	[SP_KEY_EVENT] = {"event", false},
	[SP_KEY_SYMBOL_FROM] = {"symbol_from", false},
	[SP_KEY_SYMBOL_TO] = {"symbol_to", false},
	[SP_KEY_DSO_FROM] = {"dso_from", false},
	[SP_KEY_DSO_TO] = {"dso_to", false},
	[SP_KEY_SRCLINE_FROM] = {"srcline_from", false},
	[SP_KEY_SRCLINE_TO] = {"srcline_to", false},
	[SP_KEY_ADDR_FROM] = {"addr_from", false},
	[SP_KEY_ADDR_TO] = {"addr_to", false},
	[SP_KEY_MISPREDICT] = {"mispredict", false},
	[SP_KEY_CYCLES] = {"cycles", true},
	[SP_KEY_IN_TX] = {"in_tx", false},
	[SP_KEY_ABORT] = {"abort", false},
	[SP_KEY_BRANCH_TYPE] = {"branch_type", false},
	[SP_KEY_SYMBOL_DADDR] = {"symbol_daddr", false},
	[SP_KEY_DSO_DADDR] = {"dso_daddr", false},
	[SP_KEY_DADDR] = {"daddr", false},
	[SP_KEY_PHYS_DADDR] = {"phys_daddr", false},
	[SP_KEY_DCACHELINE] = {"dcacheline", false},
	[SP_KEY_MEM] = {"mem", false},
	[SP_KEY_SNOOP] = {"snoop", false},
	[SP_KEY_TLB] = {"tlb", false},
	[SP_KEY_LOCKED] = {"locked", false},
	[SP_KEY_BLOCKED] = {"blocked", false},
	[SP_KEY_LOCAL_WEIGHT] = {"local_weight", true},
	[SP_KEY_WEIGHT] = {"weight", true},
	[SP_KEY_LOCAL_INS_LAT] = {"local_ins_lat", true},
	[SP_KEY_INS_LAT] = {"ins_lat", true},
	[SP_KEY_LOCAL_P_STAGE_CYC] = {"local_p_stage_cyc", true},
	[SP_KEY_P_STAGE_CYC] = {"p_stage_cyc", true},
	[SP_KEY_DATA_PAGE_SIZE] = {"data_page_size", false},
	[SP_KEY_CODE_PAGE_SIZE] = {"code_page_size", false},
	[SP_KEY_TRANSACTION] = {"transaction", false},
	[SP_KEY_CGROUP] = {"cgroup", false},
	[SP_KEY_CGROUP_ID] = {"cgroup_id", false},
	[SP_KEY_SOCKET] = {"socket", true},
	[SP_KEY_TIME] = {"time", false},
	[SP_KEY_ADDR] = {"addr", false},
	[SP_KEY_PARENT] = {"parent", false},
	[SP_KEY_STATE] = {"state", false},
	[SP_KEY_WAITS_FOR] = {"waits_for", false},
	[SP_KEY_PARALLELISM] = {"parallelism", true},
	[SP_KEY_WAKER] = {"waker", false},
	[SP_KEY_WAKEE] = {"wakee", false},
	[SP_KEY_CMDLINE] = {"cmdline", false},
	[SP_KEY_ARGUMENT] = {"argument", false},
	[SP_KEY_PROCESS] = {"process", false},
	[SP_KEY_SYSCALL] = {"syscall", false},
	[SP_KEY_TRACE] = {"trace", false},
	[SP_KEY_FIELD ... SP_KEY_LIMIT - 1] = {"field", false},
};

const char *sp_key_name(enum sp_key key)
{
	return key < SP_KEY_LIMIT ? keys[key].name : NULL;
}

const char *sp_mode_name(enum sp_mode mode)
{
	static const char *const names[] = {
		[SP_MODE_CPU] = "cpu",
		[SP_MODE_WALL] = "wall",
		[SP_MODE_OFF_CPU] = "off-cpu",
		[SP_MODE_LATENCY] = "latency",
		[SP_MODE_WAKERS] = "wakers",
	};
	return mode < count_of(names) ? names[mode] : NULL;
}

bool sp_key_is_number(enum sp_key key)
{
	return keys[key].number;
}

bool sp_key_is_of_branches(enum sp_key key)
{
	return key >= SP_KEY_SYMBOL_FROM && key <= SP_KEY_BRANCH_TYPE;
}

/* perf's other names of keys. perf renames some keys on x86. */
static const struct {
	const char *name;
	enum sp_key key;
} aliases[] = {
	{"sym", SP_KEY_SYMBOL},
	{"tgid", SP_KEY_PID},
	{"retire_lat", SP_KEY_P_STAGE_CYC},
	{"local_retire_lat", SP_KEY_LOCAL_P_STAGE_CYC},
};

bool sp_key_parse(const char *name, enum sp_key *ret)
{
	for (size_t i = 0; i < count_of(aliases); i++)
		if (!strcmp(name, aliases[i].name))
			name = keys[aliases[i].key].name;
	for (enum sp_key key = 0; keys[key].name; key++) {
		if (!strcmp(name, keys[key].name)) {
			*ret = key;
			return true;
		}
	}
	return false;
}

struct analysis_keys analysis_keys_of(const struct analysis_options *options)
{
	struct analysis_keys ret = {0};
	for (size_t i = 0; i < options->rows.key_count; i++)
		ret.rows[options->rows.keys[i]] = true;
	for (enum sp_key key = SP_KEY_FIRST_VALUE; key < SP_KEY_LIMIT; key++)
		if (ret.rows[key]) {
			ret.details[ret.detail_count++] = key;
			ret.has_traces |= key_is_trace(key);
		}
	memcpy(ret.groups, ret.rows, sizeof(ret.groups));
	/* A later analysis of kept counts may have commands in its tree. */
	ret.groups[SP_KEY_COMM] |= options->tree.comms || options->counts;
	return ret;
}
