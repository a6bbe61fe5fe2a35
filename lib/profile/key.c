/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sprof/profile.h>

#include <string.h>

static const char *const names[SP_KEY_COUNT] = {
	[SP_KEY_COMM] = "comm", [SP_KEY_PID] = "pid", [SP_KEY_TID] = "tid",
	[SP_KEY_CPU] = "cpu",   [SP_KEY_DSO] = "dso", [SP_KEY_SYMBOL] = "symbol",
	[SP_KEY_FUNCTION] = "function", [SP_KEY_SRCFILE] = "srcfile",
	[SP_KEY_SRCLINE] = "srcline", [SP_KEY_EVENT] = "event",
};

const char *sp_key_name(enum sp_key key)
{
	return names[key];
}

bool sp_key_parse(const char *name, enum sp_key *ret)
{
	if (!strcmp(name, "sym"))
		name = names[SP_KEY_SYMBOL];
	for (enum sp_key key = 0; key < SP_KEY_COUNT; key++) {
		if (!strcmp(name, names[key])) {
			*ret = key;
			return true;
		}
	}
	return false;
}
