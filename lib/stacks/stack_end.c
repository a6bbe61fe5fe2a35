/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks/stack_end.h"

static const struct sp_stack_end_words words[STACK_ENDS] = {
	[SP_STACK_COMPLETE] = {"complete", "complete", NULL},
	[SP_STACK_TRUNCATED] = {"truncated", "truncated", NULL},
	[SP_STACK_NO_UNWIND_INFO] = {"no_unwind_info", "without unwind information",
				     "no unwind information"},
	[SP_STACK_BAD_MEMORY] = {"bad_memory", "ended at unreadable memory", "unreadable memory"},
	[SP_STACK_DEPTH_LIMIT] = {"depth_limit", "cut at the depth limit", "depth limit"},
	[SP_STACK_SKIPPED] = {"skipped", "skipped under load", "recorder overloaded"},
	[SP_STACK_SWITCHED] = {"switched", "cut at a signal's stack", "a signal changed stacks"},
	[SP_STACK_NONE] = {"none", "missing", NULL},
	[SP_STACK_DEFERRED] = {"deferred", "without the deferred user part", "no user call chain"},
	[SP_STACK_INVALID_ADDRESS] = {"invalid_address", "ended at an invalid return address",
				      "invalid return address"},
};

_Static_assert(STACK_ENDS <= sizeof(((struct sp_profile *)NULL)->stacks) / sizeof(uint64_t),
	       "a profile has a number for each end");

const struct sp_stack_end_words *sp_stack_end_words(enum sp_stack_end end)
{
	return (unsigned int)end < STACK_ENDS ? &words[end] : NULL;
}
